"""What the step of a decoding language model takes."""
