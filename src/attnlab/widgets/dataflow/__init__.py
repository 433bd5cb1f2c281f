"""A drawing of a machine whose sizes the reader changes."""
