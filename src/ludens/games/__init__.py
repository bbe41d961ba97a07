"""Games. Each is a package: rules, view, templates, and bots where it has its own.

The catalogue names every game of this package; nothing is imported before it is used.
"""

CATALOGUE = {
    "tic_tac_toe": "ludens.games.tic_tac_toe.rules:TicTacToe",
    "breakthrough": "ludens.games.breakthrough.rules:Breakthrough",
    "reversi": "ludens.games.reversi.rules:Reversi",
    "gomoku": "ludens.games.gomoku.rules:Gomoku",
    "chess": "ludens.games.chess.rules:Chess",
    "sudoku": "ludens.games.sudoku.rules:Sudoku",
    "minesweeper": "ludens.games.minesweeper.rules:Minesweeper",
    "hanabi": "ludens.games.hanabi.rules:Hanabi",
    "tiny_hanabi": "ludens.games.hanabi.rules:TinyHanabi",
    "kuhn_poker": "ludens.games.kuhn_poker.rules:KuhnPoker",
    "overcooked": "ludens.games.overcooked.rules:Overcooked",
    "pong": "ludens.games.pong.rules:Pong",
    "coin_dilemma": "ludens.games.coin_dilemma.rules:CoinDilemma",
    "monster_hunt": "ludens.games.monster_hunt.rules:MonsterHunt",
    "battle_of_colors": "ludens.games.battle_of_colors.rules:BattleOfColors",
    "perceive": "ludens.games.perceive.rules:Perceive",
    "qa": "ludens.games.qa.rules:Qa",
    "rule": "ludens.games.rule.rules:RuleQuestion",
    "spy": "ludens.games.spy.rules:Spy",
    "comma/wire": "ludens.games.comma.wire.rules:Wire",
    "comma/who": "ludens.games.comma.who.rules:Who",
    "comma/led": "ludens.games.comma.led.rules:Led",
    "comma/memory": "ludens.games.comma.memory.rules:Memory",
    "comma/color": "ludens.games.comma.color.rules:Color",
    "comma/maze": "ludens.games.comma.maze.rules:Maze",
    "comma/keypad": "ludens.games.comma.keypad.rules:Keypad",
    "comma/password": "ludens.games.comma.password.rules:Password",
    "comma/atm": "ludens.games.comma.atm.rules:Atm",
    "comma/telehealth": "ludens.games.comma.telehealth.rules:Telehealth",
}
