"""Query, key and value: one vector in three roles."""
