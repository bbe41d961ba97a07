"""Memory: five stages in which the right button depends on earlier presses."""
