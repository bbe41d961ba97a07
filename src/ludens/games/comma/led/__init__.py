"""LED: letters are numbers, each stage's light a multiplier, and one button's product stands on another."""
