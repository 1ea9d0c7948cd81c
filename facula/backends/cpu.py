"""The CPU: which instruction sets the kernels use."""


def get_cpu_capability() -> str:
    """Give "AVX512" or "AVX2", the widest that this processor has."""
    with open("/proc/cpuinfo") as info:
        flags = info.read()
    return "AVX512" if "avx512f" in flags else "AVX2"
