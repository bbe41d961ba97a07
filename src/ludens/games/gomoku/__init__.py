"""Gomoku: five in a row on a large board."""
