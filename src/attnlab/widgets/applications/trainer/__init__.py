"""A model that learns in the page: small enough, and fast enough, to be looked at meanwhile."""
