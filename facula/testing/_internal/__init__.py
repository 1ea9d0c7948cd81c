"""Names below PyTorch's own tests, which libraries import in theirs."""
