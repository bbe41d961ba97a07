"""COMMA: one seat sees the panel, the other has the manual, and they must talk. Ten puzzles.

`dialogue` is the conversation: turns, mistakes, which lines act, what each seat hears, the score; and the
oracles with their small language. `puzzle` defines the parts of a puzzle: a `Manual` (the data of its rules)
and a `Puzzle` (the panel). `view` shows both below a common header; `pages` writes and draws manuals.

A puzzle is `NAME.py` (manual, panel, game, view), `NAME.md` (its prompts), `manuals/NAME.md` and `NAME.toml`
where it has large tables. `wire` is the example to copy; docs/comma.md says how to add one. Beyond what the
base classes say:

-   Panels draw from `self.random` alone, later stages included, and disclose nothing private in `tell`.
-   Where `released` is set, the released code's rules and scores apply.
-   Where the panel is drawn from the manual's data (symbols, words), `imagined_manual` returns another manual
    that fits the same panel.
-   Things distinguished by colour need a word or a letter where `self.sheet.theme.lettered`. Unbounded text
    (numbers) is drawn digit by digit, so that sprites are reused.
-   The oracles must solve every seed in ten turns without a mistake.
"""
