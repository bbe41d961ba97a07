"""Hanabi: fireworks built together from cards that only the others can see."""
