"""VIKI: heterogeneous robots do household tasks together."""
