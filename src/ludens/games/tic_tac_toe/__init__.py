"""Tic-tac-toe: the smallest board game."""
