"""Shared code of the grid dilemmas: rules, view and bots for two players on 5x5 cells."""
