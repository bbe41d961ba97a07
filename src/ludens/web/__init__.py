"""The browser app: look at games, watch runs, replay episodes, play. `ludens web` serves it."""
