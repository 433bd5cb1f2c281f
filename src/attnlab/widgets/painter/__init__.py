"""A mask that the reader paints."""
