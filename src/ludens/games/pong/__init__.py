"""Pong on an Atari 2600, by the Arcade Learning Environment (the extra `atari`)."""
