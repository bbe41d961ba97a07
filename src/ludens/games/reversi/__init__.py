"""Reversi: enclose discs to turn them over."""
