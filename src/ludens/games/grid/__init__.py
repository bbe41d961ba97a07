"""What the grid dilemmas share: two players on 5x5 cells, events that earn, one look, one kind of bot."""
