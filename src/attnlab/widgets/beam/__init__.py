"""A beam search, drawn as a tree."""
