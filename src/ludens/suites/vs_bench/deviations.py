"""Where and why VS-Bench in Ludens departs from the paper or its released code."""

DEVIATIONS = (
    "Targets of strategic reasoning in Hanabi, Overcooked and Pong come from scripted players: the paper's "
    "came from models and people that are not to be had.",
    "Overcooked samples begin with up to 25 random moves of both chefs, since scripted chefs alone would "
    "repeat one match; Pong's targets are a third each of STAY, UP and DOWN.",
    "In Hanabi every hint is offered as a possible prediction: the list of legal ones would tell the "
    "observer its own cards. Random guessing is right 5.4% of the time instead of 8.8%.",
    "On the grids a prediction counts when it leads to the same cell; at the border that makes random "
    "guessing right more than 20% of the time.",
    "A reply that is no move is answered with the reason twice; then a random legal move is made and counted "
    "as a fallback (a wrong answer in strategic reasoning). The released code made random moves silently.",
    "Kuhn poker's uniform player has exploitability 0.4583; the paper prints 0.5, and its anchor is kept as "
    "the default.",
    "Pong's shortest and longest episodes are not published: 147 and 435 decisions fit its tables.",
    "Overcooked counts the paper's points; its released code left the library's shaping in, which is "
    "`variant=released`.",
    "Breakthrough is played as often on either side, on shared seeds.",
)
