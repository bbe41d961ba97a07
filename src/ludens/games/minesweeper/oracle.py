"""Exact inference about hidden cells: counts of consistent layouts, and so which cells are certainly safe.

Every layout of mines that fits what is seen is as likely as any other. Hidden cells that touch the same
numbers are alike and form a group; layouts are counted group by group. What the numbers still need, and how
many mines are left in all, is packed into one integer (four bits a number, the rest for the total), so that
putting c mines into a group subtracts c times the group's unit. Few different integers are ever reached,
because a number whose last group has passed must need nothing more.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb
from string import ascii_uppercase

from ludens.core.random import Stream

HIDDEN, MINE = -1, 9

Seen = tuple[int, ...]


@lru_cache(maxsize=64)
def neighbours(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """For every cell, the up to eight cells that touch it."""
    return tuple(
        tuple(
            r * columns + c
            for r in range(max(0, row - 1), min(rows, row + 2))
            for c in range(max(0, column - 1), min(columns, column + 2))
            if (r, c) != (row, column)
        )
        for row in range(rows)
        for column in range(columns)
    )


@lru_cache(maxsize=64)
def names(rows: int, columns: int) -> tuple[str, ...]:
    """The names of the cells, row by row: A1, A2, ..."""
    return tuple(f"{ascii_uppercase[row]}{column + 1}" for row in range(rows) for column in range(columns))


def around(mines: Collection[int], touching: tuple[int, ...]) -> int:
    """How many of these cells hold a mine."""
    return sum(cell in mines for cell in touching)


def opened_with(mines: Collection[int], cell: int, touching: tuple[tuple[int, ...], ...]) -> dict[int, int]:
    """The cells that open with a safe cell; neighbours of cells that touch no mine open as well."""
    shown: dict[int, int] = {}
    waiting = [cell]
    while waiting:
        here = waiting.pop()
        if here not in shown:
            shown[here] = around(mines, touching[here])
            if not shown[here]:
                waiting += touching[here]
    return shown


_BITS, _SLOT = 4, 15


@dataclass(frozen=True)
class Group:
    """Hidden cells that touch the same numbers."""

    cells: tuple[int, ...]
    numbers: tuple[int, ...]
    """The slots of the numbers they touch."""
    closes: tuple[int, ...]
    """Those of them that no later group touches."""


class Knowledge:
    """Everything that follows from the visible cells. Made by `infer`."""

    def __init__(self, rows: int, columns: int, mines: int, seen: Seen) -> None:
        touching = neighbours(rows, columns)
        self.hidden = tuple(cell for cell, code in enumerate(seen) if code == HIDDEN)
        needs, slots = list[int](), dict[int, tuple[int, ...]]()
        found = sum(code == MINE for code in seen)
        for cell, code in enumerate(seen):
            if 0 <= code < MINE:
                covered = [near for near in touching[cell] if seen[near] == HIDDEN]
                open_mines = sum(seen[near] == MINE for near in touching[cell])
                for near in covered:
                    slots[near] = (*slots.get(near, ()), len(needs))
                if covered:
                    needs.append(code - open_mines)
        self._total = len(needs) * _BITS
        self._needs = sum(need << _BITS * slot for slot, need in enumerate(needs))
        self._needs += mines - found << self._total
        self._groups = _ordered(self.hidden, slots)

    @cached_property
    def _reached(self) -> list[dict[int, int]]:
        """Before every group and after the last: each integer of needs, and the ways to reach it."""
        layers = [{self._needs: 1}]
        for group in self._groups:
            after: dict[int, int] = {}
            for needs, ways in layers[-1].items():
                for _, left, choices in self._steps(group, needs):
                    after[left] = after.get(left, 0) + ways * choices
            layers.append(after)
        return layers

    @cached_property
    def _endings(self) -> list[dict[int, int]]:
        """The same integers, and the number of ways to bring each to zero."""
        layers = [{0: 1}]
        for group, reached in zip(reversed(self._groups), reversed(self._reached[:-1]), strict=True):
            after, before = layers[-1], dict[int, int]()
            for needs in reached:
                ways = sum(n * after.get(left, 0) for _, left, n in self._steps(group, needs))
                if ways:
                    before[needs] = ways
            layers.append(before)
        return layers[::-1]

    def _steps(self, group: Group, needs: int) -> list[tuple[int, int, int]]:
        """Every possible number of mines in the group, the needs after it, and the number of ways."""
        most = min(len(group.cells), needs >> self._total)
        for slot in group.numbers:
            most = min(most, needs >> _BITS * slot & _SLOT)
        unit = sum(1 << _BITS * slot for slot in group.numbers) + (1 << self._total)
        steps = []
        for count in range(most + 1):
            left = needs - count * unit
            if not any(left >> _BITS * slot & _SLOT for slot in group.closes):
                steps.append((count, left, comb(len(group.cells), count)))
        return steps

    @property
    def layouts(self) -> int:
        """The number of layouts consistent with what is visible."""
        return self._endings[0].get(self._needs, 0)

    @cached_property
    def with_mine(self) -> dict[int, int]:
        """For every hidden cell, the number of layouts in which it holds a mine."""
        counts: dict[int, int] = {}
        for group, reached, after in zip(self._groups, self._reached, self._endings[1:], strict=False):
            mined = sum(
                ways * after.get(left, 0) * choices * count
                for needs, ways in reached.items()
                for count, left, choices in self._steps(group, needs)
            )
            counts.update(dict.fromkeys(group.cells, mined // len(group.cells)))
        return counts

    @cached_property
    def safe(self) -> tuple[int, ...]:
        """The hidden cells that hold a mine in no layout."""
        return tuple(cell for cell in self.hidden if not self.with_mine[cell])

    def risk(self, cell: int) -> float:
        """The probability that a hidden cell holds a mine."""
        return self.with_mine[cell] / self.layouts

    def draw(self, random: Stream) -> frozenset[int]:
        """A random consistent layout: its hidden mines."""
        mines, needs = list[int](), self._needs
        for group, after in zip(self._groups, self._endings[1:], strict=True):
            steps = self._steps(group, needs)
            weights = [choices * after.get(left, 0) for _, left, choices in steps]
            count, needs, _ = random.weighted(steps, weights)
            mines += random.sample(group.cells, count)
        return frozenset(mines)


@lru_cache(maxsize=8192)
def infer(rows: int, columns: int, mines: int, seen: Seen) -> Knowledge:
    """The knowledge that follows from the visible cells of a field with this many mines."""
    return Knowledge(rows, columns, mines, seen)


def _ordered(hidden: tuple[int, ...], slots: dict[int, tuple[int, ...]]) -> list[Group]:
    """The groups in an order that keeps few numbers open: the number nearest completion comes next."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for cell in hidden:
        alike.setdefault(slots.get(cell, ()), []).append(cell)
    waiting: dict[int, list[tuple[int, ...]]] = {}
    for numbers in alike:
        for slot in numbers:
            waiting.setdefault(slot, []).append(numbers)
    begun, order = set[int](), list[Group]()
    while waiting:
        slot = min(waiting, key=lambda slot: (slot not in begun, len(waiting[slot]), slot))
        numbers = waiting[slot][0]
        for touched in numbers:
            waiting[touched].remove(numbers)
            begun.add(touched)
        closes = tuple(touched for touched in numbers if not waiting[touched])
        for touched in closes:
            del waiting[touched]
        order.append(Group(tuple(alike.pop(numbers)), numbers, closes))
    return order + [Group(tuple(cells), (), ()) for cells in alike.values()]
