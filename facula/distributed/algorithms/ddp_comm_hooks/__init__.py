"""What data parallelism sends: not built."""
