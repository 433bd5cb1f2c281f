"""A Transformer's encoder block, stage by stage."""
