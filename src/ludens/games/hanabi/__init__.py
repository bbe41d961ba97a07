"""Hanabi, a cooperative card game in which you see every hand except your own."""
