"""Extensions in C++: not built. The names are there for scripts that ask before they build."""

from __future__ import annotations

from facula._absent import absent_class, absent_function

_WHY = "extensions in C++ are not compiled from Python"
CUDA_HOME = None
ROCM_HOME = None
IS_HIP_EXTENSION = False
load = absent_function("facula.utils.cpp_extension.load", _WHY)
load_inline = absent_function("facula.utils.cpp_extension.load_inline", _WHY)
CppExtension = absent_function("facula.utils.cpp_extension.CppExtension", _WHY)
CUDAExtension = absent_function("facula.utils.cpp_extension.CUDAExtension", _WHY)
include_paths = absent_function("facula.utils.cpp_extension.include_paths", _WHY)
BuildExtension = absent_class("facula.utils.cpp_extension.BuildExtension", _WHY)


def is_ninja_available() -> bool:
    """Say whether the build tool ninja is there."""
    import shutil

    return shutil.which("ninja") is not None
