"""The softmax of one query, tile by tile."""
