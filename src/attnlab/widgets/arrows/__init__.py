"""Three words as arrows, and what one of them becomes: an average, a point in their triangle."""
