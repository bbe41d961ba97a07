"""Chess: OpenSpiel's rules, moves in coordinates."""
