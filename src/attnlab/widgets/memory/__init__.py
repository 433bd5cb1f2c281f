"""A memory of 2 × 2 numbers: written under keys, asked by keys."""
