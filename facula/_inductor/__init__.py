"""Names below the compiler of kernels: nothing is compiled."""

from facula import _absent
from facula._inductor import config

_absent.add_absent(
    globals(), "aoti_compile_and_package aoti_load_package compile", "", "programs are not compiled"
)
