"""Perceive: read a board from its picture."""
