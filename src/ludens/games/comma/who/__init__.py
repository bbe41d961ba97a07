"""Who: a display names a button to read, and its label names the button to press."""
