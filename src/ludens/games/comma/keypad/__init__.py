"""Keypad: four symbols, to be pressed in the order of the manual's one column that has them all."""
