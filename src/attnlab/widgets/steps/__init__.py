"""Attention of one query, step by step."""
