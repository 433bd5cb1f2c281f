"""A task that a language model is given by examples alone."""
