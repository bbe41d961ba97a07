"""Overcooked: two chefs share a kitchen and cook onion soup."""
