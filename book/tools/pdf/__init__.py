"""The book on paper: all its pages as one PDF, which `make pdf` prints."""
