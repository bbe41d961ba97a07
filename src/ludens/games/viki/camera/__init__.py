"""The kitchen through cameras: MuJoCo scenes with robot meshes (extra `robots`)."""

CATALOGUE = {"viki": "ludens.games.viki.camera.render:Kitchens"}
"""Generators of picture sets."""
