"""Whether new memory is filled when deterministic results are asked for."""

fill_uninitialized_memory = True
