"""VIKI: heterogeneous robots do household tasks together."""

CATALOGUE = {"viki": "ludens.games.viki.camera:Kitchens"}
"""Generators of picture sets; they need the extra `robots`."""
