"""Entrants that meet each other: ratings, cross-play, and which pairs to play next."""
