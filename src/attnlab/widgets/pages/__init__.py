"""Texts in the pages of one pool."""
