"""Settings of the ahead-of-time compiler: they are kept and change nothing."""

activation_memory_budget = 1.0
donated_buffer = False
enable_autograd_cache = False
functionalize_rng_ops = False
