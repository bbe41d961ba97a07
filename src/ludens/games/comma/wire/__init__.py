"""Wire: three to six coloured wires, one of which must be cut."""
