"""The leaderboard: a static site from packs of many people, every one of them replayed before it counts.

entries.py   rows: one for each model and its settings, over all packs that have it
site.py      verifies packs and writes the pages
tree.py      nano's reply to every line of tic-tac-toe, for a game without a server
"""
