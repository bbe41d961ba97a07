"""Rule: name one valid move in a position reached by play."""
