"""Where the heads of a model look, as an atlas."""
