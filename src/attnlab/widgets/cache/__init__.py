"""What a model's cache takes."""
