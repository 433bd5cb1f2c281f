"""Live pictures that are programs: in each a model is read, trained or run as the reader says."""
