"""Password: turn five letters until they spell a word from the manual."""
