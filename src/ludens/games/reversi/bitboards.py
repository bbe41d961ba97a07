"""Reversi on bitboards: a side's discs are one integer of 64 bits, bit 0 for A1, bit 63 for H8.

Pure Python, and yet fast enough to search: all discs move in one direction at once, by shifting.
"""

from __future__ import annotations

from collections.abc import Iterator

FULL = (1 << 64) - 1
_INNER = 0x7E7E7E7E7E7E7E7E
"""Without the outer columns: what a sideways line may pass through."""
_AXES = ((1, _INNER), (7, _INNER), (9, _INNER), (8, FULL))


def moves(own: int, other: int) -> int:
    """The empty cells where `own` may play."""
    found = 0
    for step, mask in _AXES:
        between = other & mask
        up, down = between & own << step, between & own >> step
        for _ in range(5):
            up |= between & up << step
            down |= between & down >> step
        found |= up << step | down >> step
    return found & ~(own | other) & FULL


def turned(own: int, other: int, cell: int) -> int:
    """The discs of the other side that a disc on this cell (a single bit) encloses."""
    flips = 0
    for step, mask in _AXES:
        between = other & mask
        up, down = between & cell << step, between & cell >> step
        for _ in range(5):
            up |= between & up << step
            down |= between & down >> step
        if up << step & own:
            flips |= up
        if down >> step & own:
            flips |= down
    return flips


def cells(board: int) -> Iterator[int]:
    """The bits of a board, one by one."""
    while board:
        low = board & -board
        yield low
        board ^= low
