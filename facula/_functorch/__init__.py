"""Names below the ahead-of-time compiler."""
