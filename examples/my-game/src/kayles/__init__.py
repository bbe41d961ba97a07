"""Kayles, a game for Ludens."""
