"""LED: letters count as numbers, each stage's light is a multiplier, and a product names the button."""
