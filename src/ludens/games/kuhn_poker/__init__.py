"""Kuhn poker: three cards, one bet, and the whole of bluffing."""
