"""Monster Hunt: apples for one, a monster for two."""
