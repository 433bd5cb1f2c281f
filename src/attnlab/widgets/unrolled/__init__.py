"""A recurrent encoder–decoder, unrolled in time."""
