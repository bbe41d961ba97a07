"""Rule: name one valid move in a position that play can reach."""
