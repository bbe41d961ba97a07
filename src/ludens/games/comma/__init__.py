"""COMMA: one sees the panel, the other has the manual, and they must talk. Ten puzzles on one conversation.

`dialogue` holds the conversation: turns, mistakes, what acts, what each seat hears, the score. `puzzle`
says what a puzzle must bring: a `Manual` (the data its rules go by) and a `Puzzle` (the panel). `view`
shows both below a common head; `blocks` and `pages` write and draw manuals; `bots` has the oracles and the
random baseline; `language` is the oracles' small language. `wire` is the example to copy.

How to add a puzzle, in five steps:

1.  `NAME/manual.py`: a frozen dataclass on `Manual` that holds the tables as data (tuples), the published
    ones as a module constant, and a function that draws others from a stream. Put the question "what is
    right here?" on the manual, and let both the panel and `advise` ask it. `blocks()` makes the words from
    the data: `Heading`, `Paragraph`, `Items`, `Grid` (a table) or `Figure` (a drawing with words that say
    as much). `advise(told)` answers from what was told and nothing else, and raises `Unclear` (mostly
    through `language.need`) when that does not suffice.
2.  `NAME/rules.py`: a `Puzzle` that draws the panel in `__init__` from `setting.random` alone (keep the
    stream for redraws), keeps its state in immutable values, and has `actions`, `act`, `progress`,
    `describe`, `tell`, `follow`. Private: `briefing` is what the Solver alone is told in words; `private`
    names what it must not pass on, for the leak metrics; `hidden` names the actions the Expert must not
    read. `tell` gives away nothing of it. A mistake may set `progress` back: the partial score keeps the
    highest. Where `self.released` is set, the released code's rules and scores hold. Then the game: a
    frozen dataclass on `Comma` with `name`, `skills`, `standard_manual`, `random_manual`, `set_up` and
    `view_class`, and a docstring with the headings of `Wire`'s (its page in the docs; say how the partial
    score is computed). Where the panel is drawn from the manual's data (symbols, words), override
    `imagined_manual` with another manual the same panel fits.
3.  `NAME/view.py`: a `CommaView` whose `draw(canvas, box, puzzle)` draws the panel into the box below the
    head. Measure in `self.sheet.px(units)`, 512 units to the picture. What is told apart by colour needs a
    word or a letter where `self.sheet.theme.lettered`. Text that varies without end (numbers) is drawn digit
    by digit, so that sprites are found again. Look at it in all four themes, and at 256.
4.  `NAME/templates.md`: the sections `title`, `puzzle solver` and `puzzle expert` (what the panel is about,
    without giving away the manual). `NAME/__init__.py`: one line.
5.  One line in the catalogue of `ludens.games`, and `tests/games/comma/NAME/`: the rules against the
    published tables written down independently, random manuals (solvable, unambiguous), and a test that
    reads the state back from the PNG and solves from that. The tests beside it (`test_oracles`,
    `test_secrecy`, ...) take up the puzzle by themselves.

Oracles: each turn the oracle Solver takes the Expert's latest advice, does what `follow` returns (on a copy
of the panel, so it may try things out there), and then tells what `tell` returns. The Expert gets all that
was told so far, oldest first, so it can answer from the whole story. Together they must solve every seed in
ten turns without a mistake.
"""
