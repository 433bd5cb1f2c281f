"""The reader's own sentence in a pretrained encoder, with a switch for each head."""
