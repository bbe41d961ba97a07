"""Multiple-choice questions about a position."""
