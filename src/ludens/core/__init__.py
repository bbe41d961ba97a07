"""The contract every part of Ludens agrees on: games, states, views, agents, episodes."""
