"""Reversi: enclose and turn over."""
