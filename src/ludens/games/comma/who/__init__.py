"""Who: a display names a button to read, and what it reads names the button to press."""
