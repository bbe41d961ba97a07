"""Color: sixteen squares turned white group by group, in an order that a table decides."""
