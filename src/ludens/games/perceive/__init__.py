"""Perceive: read a board off its picture."""
