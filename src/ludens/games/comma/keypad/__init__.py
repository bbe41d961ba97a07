"""Keypad: press four symbols in the order of the one column that holds them all."""
