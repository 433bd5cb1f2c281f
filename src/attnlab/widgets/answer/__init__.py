"""Numbers worked out on paper, entered and checked."""
