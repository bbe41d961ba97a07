"""Battle of the Colors: a coordination game on two coloured blocks."""
