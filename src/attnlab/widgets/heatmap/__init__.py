"""Attention weights as a map."""
