"""Coin Dilemma: a social dilemma with coins of two colours."""
