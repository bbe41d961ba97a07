"""Memory: five stages in which what must be pressed depends on what was pressed before."""
