"""Where and why VS-Bench in Ludens departs from the paper or its released code."""

DEVIATIONS = (
    "Targets of strategic reasoning in Hanabi, Overcooked and Pong come from scripted players: the paper's "
    "came from models and people that are not to be had. Recorded runs of any agent make sets of their own.",
    "A random player is met but never predicted, nor is Hanabi's weak one: chance cannot be foreseen.",
    "Overcooked samples begin with up to 25 random moves of both chefs, since scripted chefs alone would "
    "repeat one match; Pong's targets are a third each of STAY, UP and DOWN.",
    "In Hanabi the hints that fit what the observer knows of its own cards are offered as predictions: the "
    "list of legal ones would tell it those cards. Guessing is right 5.6% of the time instead of 8.8%.",
    "On the grids a prediction counts when it leads to the same cell; at the border several do, and guessing "
    "is right more than 20% of the time.",
    "A reply that is no move is answered with the reason twice; then a random legal move is made and counted "
    "as a fallback (a wrong answer in strategic reasoning). The released code made random moves silently.",
    "Kuhn poker's uniform player has exploitability 0.4583; the paper prints 0.5, and its anchor is kept as "
    "the default. A policy known from 25 answers a question looks 0.03 to 0.04 worse than it is.",
    "Pong's shortest and longest episodes are not published: 147 and 435 decisions fit its tables.",
    "Monster Hunt is normalised by the optimum of table 4, 92.2; table 2 was computed with about 88.",
    "Overcooked counts the paper's points; its released code left the library's shaping in, which is "
    "`variant=released`.",
    "Breakthrough is played as often on either side, on shared seeds.",
)
