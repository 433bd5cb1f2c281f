"""Rotary positions as clocks, slowed down for longer texts."""
