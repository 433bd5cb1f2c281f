"""What a window, the first tokens kept and a top-k leave of a model's attention."""
