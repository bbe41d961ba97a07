"""ATM: a cash machine to be worked by its keys, with a PIN and a balance that are nobody else's business."""
