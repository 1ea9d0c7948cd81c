"""Checkpointing of modules."""
