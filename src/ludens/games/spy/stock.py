"""Clues that say something about any picture: what a player says who does not look."""

STOCK_CLUES = (
    "There are several objects in the picture",
    "One of the objects is red",
    "I can see a blue object",
    "There is a cube in the picture",
    "There is at least one sphere",
    "A cylinder is in the picture",
    "There is a metal object",
    "There is a rubber object",
    "One object is larger than the others",
    "There is a small object",
    "There is a green object",
    "The objects have different colors",
    "An object is to the left of another one",
    "There is a large object in front of a small one",
    "There is a yellow object",
    "The objects do not touch each other",
)
