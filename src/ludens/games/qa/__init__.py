"""Questions with options about a position: look, count, compare."""
