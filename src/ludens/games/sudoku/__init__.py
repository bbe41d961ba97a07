"""Sudoku: one digit of each in every row, column and box."""
