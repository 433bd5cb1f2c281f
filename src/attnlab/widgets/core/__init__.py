"""What the widgets share: checks, markup, packing, the page's scripts, and the class ``Widget``."""
