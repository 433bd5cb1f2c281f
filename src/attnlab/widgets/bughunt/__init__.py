"""Code with a mistake in one of its lines, to be found."""
