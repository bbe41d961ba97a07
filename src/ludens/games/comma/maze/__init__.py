"""Maze: a mouse must be led to one of four spheres; the torus says to which."""
