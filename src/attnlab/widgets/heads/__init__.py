"""Several heads side by side."""
