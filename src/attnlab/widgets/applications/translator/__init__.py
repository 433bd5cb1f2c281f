"""A trained Transformer that translates the reader's sentence."""
