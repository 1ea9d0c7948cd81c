"""Communication around training: not built."""
