"""Password: five letters to be turned until they spell a word that the manual lists."""
