"""Maze: lead a mouse to one of four spheres; the torus determines which."""
