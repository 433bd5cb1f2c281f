"""Four scores of a query and its keys, on a plane."""
