"""A question with answers to choose from."""
