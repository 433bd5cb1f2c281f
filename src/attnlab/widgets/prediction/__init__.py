"""Numbers to predict before they are shown."""
