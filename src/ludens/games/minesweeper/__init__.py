"""Minesweeper: open every cell that holds no mine."""
