"""Sinusoidal positions."""
