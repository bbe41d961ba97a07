"""Breakthrough, a race of pawns."""
