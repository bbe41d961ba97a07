"""A small vision-language model of our own, from scratch: fast enough to prove training in minutes."""
