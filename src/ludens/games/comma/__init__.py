"""COMMA: one seat sees the panel, the other has the manual, and they must talk. Ten puzzles.

`dialogue` is the conversation: turns, mistakes, which lines act, what each seat hears, the score. `puzzle`
defines the parts of a puzzle: a `Manual` (the data of its rules) and a `Puzzle` (the panel). `view` shows
both below a common header; `blocks` and `pages` write and draw manuals; `language` holds the oracles and
their small language. `wire` is the example to copy.

How to add a puzzle, in five steps:

1.  `NAME/manual.py`: a frozen dataclass on `Manual` that holds the tables as data (tuples), the published
    ones as a module constant, and a function that draws random ones from a stream. The manual decides what
    is right; both the panel and `advise` use it. `blocks()` makes the text from the data: `Heading`,
    `Paragraph`, `Items`, `Grid` (a table) or `Figure` (a drawing with a text of the same information).
    `advise(told)` answers only from what was told, and raises `Unclear` (mostly through `language.need`)
    when that is not sufficient.
2.  `NAME/rules.py`: a `Puzzle` that draws the panel in `__init__` from `setting.random` alone (keep the
    stream for redraws), keeps its state in immutable values, and has `actions`, `act`, `progress`,
    `describe`, `tell`, `follow`. Private: `briefing` is what only the Solver is told; `private` names what
    it must not disclose, for the leak metrics; `hidden` names the actions the Expert must not read. `tell`
    discloses nothing private. A mistake may reduce `progress`: the partial score keeps the highest. Where
    `self.released` is set, the released code's rules and scores apply. Then the game: a
    frozen dataclass on `Comma` with `name`, `skills`, `published`, `puzzle_class`, `random_manual` and
    `view_class`, and a docstring with the headings of `Wire`'s (its page in the docs; say how the partial
    score is computed). Where the panel is drawn from the manual's data (symbols, words), override
    `imagined_manual` with another manual that fits the same panel.
3.  `NAME/view.py`: a `CommaView` whose `draw(canvas, box, puzzle)` draws the panel into the box below the
    header. Measure in `self.sheet.px(units)`, 512 units to the picture. Things distinguished by colour need a
    word or a letter where `self.sheet.theme.lettered`. Unbounded text (numbers) is drawn digit by digit, so
    that sprites are reused. Look at it in all four themes, and at 256.
4.  `NAME/templates.md`: the sections `title`, `puzzle solver` and `puzzle expert` (what the panel is about,
    without giving away the manual). `NAME/__init__.py`: one line.
5.  One line in the catalogue of `ludens.games`, and `tests/games/comma/NAME/`: the rules against the
    published tables written down independently, random manuals (solvable, unambiguous), and a test that
    reads the state back from the PNG and solves from that. The shared tests (`test_oracles`,
    `test_secrecy`, ...) include the puzzle automatically.

Oracles: each turn the oracle Solver takes the Expert's latest advice, does what `follow` returns (computed on
a copy of the panel), and then tells what `tell` returns. The Expert gets everything told so far, oldest
first. Together they must solve every seed in ten turns without a mistake.
"""
