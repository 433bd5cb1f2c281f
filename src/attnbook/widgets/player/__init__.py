"""Alignments, word by word."""
