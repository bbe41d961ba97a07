"""ATM: operate a cash machine by its keys, and keep PIN and balance private."""
