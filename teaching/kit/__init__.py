"""The teaching kit, which `make kit` writes: what somebody needs who teaches from the book."""
