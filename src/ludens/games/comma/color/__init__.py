"""Color: turn sixteen squares white group by group, in an order given by a table."""
