"""Extensions in C++: sources compiled against Facula's headers into modules of Python.

`load_inline` compiles text, `load` files, `CppExtension` and `BuildExtension` serve setup scripts.
Functions may take and give tensors, numbers, bools, strings, and lists, options and tuples of
these. Results are kept in a folder, `TORCH_EXTENSIONS_DIR` or `~/.cache/facula_extensions`, under a
hash of all that goes into them; what is there already is not compiled again. Sources may be
written for Facula (`facula/extension.h`) or for PyTorch (`torch/extension.h`: the names that are
used most).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facula._absent import missing

__all__ = [
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
]

if TYPE_CHECKING:
    BuildExtension: type

CUDA_HOME = None
ROCM_HOME = None
IS_HIP_EXTENSION = False

_PACKAGE = Path(__file__).resolve().parents[1]
_NO_CUDA = "there is no CUDA here; give C++ sources only"
_FLAGS = ["-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden"]


def is_ninja_available() -> bool:
    """Say whether the build tool ninja is there; extensions are built without it.

    Example: `is_ninja_available()` gives True or False.
    """
    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Do nothing: ninja is not needed."""


def _headers() -> list[Path]:
    """Return the folders of the library's headers: of an installed package, or of a checkout."""
    installed = _PACKAGE / "include"
    if (installed / "facula").is_dir():
        return [installed]
    source = _PACKAGE.parent / "src"
    built = sorted(
        _PACKAGE.parent.glob("build/*/generated/facula/ops"), key=lambda p: p.stat().st_mtime
    )
    if not (source / "facula").is_dir() or not built:
        raise RuntimeError(
            f"the C++ headers of Facula are neither in {installed} nor in {source}; install the "
            "package or build it"
        )
    return [source, built[-1].parents[1]]


def _root() -> Path:
    given = os.environ.get("TORCH_EXTENSIONS_DIR")
    base = Path(given) if given else Path.home() / ".cache" / "facula_extensions"
    return base / f"py{sys.version_info.major}{sys.version_info.minor}"


def _write(path: Path, text: str) -> None:
    """Write a file in one step, so that another process never sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(path)


def _alias_headers(headers: list[Path]) -> Path:
    """Return the folder with torch/operators.h, which is written from the headers once."""
    from facula.utils._cpp_names import operators_header

    operators = headers[-1] / "facula" / "ops"
    stamp = hashlib.sha256(Path(__file__).with_name("_cpp_names.py").read_bytes())
    for header in sorted(operators.glob("*_functions.h")):
        stamp.update(header.read_bytes())
    folder = _root() / "headers" / stamp.hexdigest()[:16]
    names = folder / "torch"
    if not (names / "operators.h").exists():
        for file in ("extension.h", "torch.h"):
            _write(names / file, '#pragma once\n#include "facula/alias.h"\n')
        _write(names / "operators.h", operators_header(operators))
    return folder


def include_paths(device_type: str = "cpu", cuda: bool = False) -> list[str]:
    """Return the folders in which a compiler finds the headers.

    Raises NotImplementedError for other devices than the CPU, RuntimeError where the headers are
    not installed. Example: `include_paths()[0]` is the folder of the written headers.
    """
    if device_type != "cpu" or cuda:
        raise missing("facula.utils.cpp_extension.include_paths", _NO_CUDA)
    headers = _headers()
    own = Path(__file__).parent / "cpp_include"
    return [str(p) for p in (_alias_headers(headers), own, *headers)]


def library_paths(device_type: str = "cpu", cuda: bool = False) -> list[str]:
    """Return the folder of libfacula.

    Example: `library_paths()` gives a list of one folder.
    """
    if device_type != "cpu" or cuda:
        raise missing("facula.utils.cpp_extension.library_paths", _NO_CUDA)
    return [str(_PACKAGE / "lib")]


def _compiler() -> list[str]:
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        if name and (found := shutil.which(name.split()[0])):
            return [found, *name.split()[1:]]
    raise RuntimeError(
        "no C++ compiler was found: extensions need one that knows C++20 (g++ 11 or newer), in "
        "PATH or named by the variable CXX"
    )


def _compile_options(name: str, cflags: Sequence[str], includes: Sequence[str]) -> list[str]:
    folders = [*map(str, includes), *include_paths(), sysconfig.get_paths()["include"]]
    names = [f"-D{macro}={name}" for macro in ("FACULA_EXTENSION_NAME", "TORCH_EXTENSION_NAME")]
    return [*_FLAGS, *names, *(f"-I{folder}" for folder in folders), *cflags]


def _link_options(ldflags: Sequence[str]) -> list[str]:
    folder = library_paths()[0]
    return ["-shared", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lfacula", *ldflags]


def _run(command: list[str], name: str, verbose: bool) -> None:
    if verbose:
        print(" ".join(command), file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if verbose and done.stdout:
        print(done.stdout, file=sys.stderr)
    if done.returncode:
        raise RuntimeError(f"Error building extension '{name}': {done.stdout.strip()}")


def _hash(parts: Sequence[str]) -> str:
    library = _PACKAGE / "lib" / "libfacula.so"
    stat = library.stat()
    stamp = hashlib.sha256()
    for part in (*parts, str(stat.st_size), str(stat.st_mtime_ns)):
        stamp.update(part.encode() + b"\0")
    return stamp.hexdigest()[:16]


def _build(
    name: str, sources: list[Path], folder: Path, compiling: list[str], linking: list[str],
    verbose: bool,
) -> Path:  # fmt: skip
    """Compile and link into `folder`, unless another process has done it; return the library."""
    import fcntl

    target = folder / f"{name}.so"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.exists():
            return target
        compiler = _compiler()
        objects = [str(folder / f"{i}_{source.stem}.o") for i, source in enumerate(sources)]
        for source, object_ in zip(sources, objects, strict=True):
            _run([*compiler, *compiling, "-c", str(source), "-o", object_], name, verbose)
        part = str(target) + ".part"
        _run([*compiler, *objects, *linking, "-o", part], name, verbose)
        os.replace(part, target)
    return target


def _import(name: str, library: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(
    name: str,
    sources: str | Sequence[str],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
) -> Any:
    r"""Compile C++ files into a module and import it; with `is_python_module=False`, load the
    library into the process and return its path.

    Raises RuntimeError with the compiler's output where a file does not compile, and where there is
    no compiler; NotImplementedError for CUDA.

    Example:
        >>> text = "torch::Tensor twice(torch::Tensor x) { return x * 2; }"
        >>> binding = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }'
        >>> _ = Path("m.cpp").write_text(f"#include <torch/extension.h>\\n{text}\\n{binding}\\n")
        >>> load("m", ["m.cpp"]).twice(facula.ones(2))
        tensor([2., 2.])
    """
    if with_cuda or with_sycl:
        raise missing("facula.utils.cpp_extension.load", _NO_CUDA)
    if is_standalone:
        raise missing("facula.utils.cpp_extension.load(is_standalone=True)")
    if not name.isidentifier():
        raise ValueError(f"load: expected a name of a module, got {name!r}")
    files = [Path(s).resolve() for s in ([sources] if isinstance(sources, str) else sources)]
    for file in files:
        if file.suffix in (".cu", ".cuh"):
            raise missing("facula.utils.cpp_extension.load", _NO_CUDA)
        if not file.exists():
            raise FileNotFoundError(f"load: there is no file {file}")
    compiling = _compile_options(name, extra_cflags or (), extra_include_paths or ())
    linking = _link_options(extra_ldflags or ())
    folders = {*(f.parent for f in files), *map(Path, extra_include_paths or ())}
    headers = (h for folder in sorted(folders) for h in sorted(folder.glob("*.h*")))
    texts = [part for file in (*files, *headers) for part in (str(file), file.read_text())]
    stamp = _hash([*texts, *compiling, *linking, os.environ.get("CXX", "")])
    base = Path(build_directory) if build_directory else _root() / name
    library = _build(name, files, base / stamp, compiling, linking, verbose)
    if is_python_module:
        return _import(name, library)
    import ctypes

    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    return str(library)


def _bindings(functions: str | Sequence[str] | dict[str, str]) -> str:
    if isinstance(functions, str):
        functions = [functions]
    if not isinstance(functions, dict):
        functions = {f: f for f in functions}
    lines = ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {"]
    for function, text in functions.items():
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'  m.def("{function}", &{function}, "{quoted}");')
    return "\n".join([*lines, "}"])


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    sycl_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | dict[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
) -> Any:
    """Compile C++ text into a module; `functions` names those that Python gets, with their texts.

    Raises what `load` raises.

    Example:
        >>> text = "torch::Tensor twice(torch::Tensor x) { return x * 2; }"
        >>> load_inline("m", text, functions="twice").twice(facula.ones(2))
        tensor([2., 2.])
    """
    if cuda_sources or sycl_sources or with_cuda or with_sycl:
        raise missing("facula.utils.cpp_extension.load_inline", _NO_CUDA)
    parts = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    if not no_implicit_headers:
        parts.insert(0, "#include <torch/extension.h>")
    if functions is not None:
        parts.append(_bindings(functions))
    text = "\n".join(parts) + "\n"
    base = Path(build_directory) if build_directory else _root() / name
    file = base / "sources" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.cpp"
    if not file.exists():
        _write(file, text)
    return load(
        name, [str(file)], extra_cflags, None, None, extra_ldflags, extra_include_paths,
        build_directory, verbose, is_python_module=is_python_module,
    )  # fmt: skip


def CppExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Any:
    """Return a setuptools.Extension with the folders and options that Facula's headers need.

    Example: `setup(ext_modules=[CppExtension("m", ["m.cpp"])], cmdclass={"build_ext":
    BuildExtension})` in a setup script.
    """
    import setuptools

    given = kwargs.pop("extra_compile_args", None) or []
    own = given.get("cxx", []) if isinstance(given, dict) else list(given)
    short = name.rpartition(".")[2]
    kwargs["include_dirs"] = [*kwargs.get("include_dirs", []), *include_paths()]
    kwargs["extra_compile_args"] = [*_FLAGS, *own]
    kwargs["extra_link_args"] = [*kwargs.get("extra_link_args", []), *_link_options(())[1:]]
    kwargs["define_macros"] = [
        *kwargs.get("define_macros", []),
        ("FACULA_EXTENSION_NAME", short),
        ("TORCH_EXTENSION_NAME", short),
    ]
    kwargs["language"] = "c++"
    return setuptools.Extension(name, list(sources), *args, **kwargs)


def CUDAExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Any:
    """Raise NotImplementedError: there is no CUDA."""
    raise missing("facula.utils.cpp_extension.CUDAExtension", _NO_CUDA)


def _make_build_extension() -> type:
    from setuptools.command.build_ext import build_ext

    class BuildExtension(build_ext):
        """The command build_ext of setup scripts with extensions made by `CppExtension`."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            for option in ("no_python_abi_suffix", "use_ninja", "parallel_jobs"):
                kwargs.pop(option, None)
            super().__init__(*args, **kwargs)

        @classmethod
        def with_options(cls, **options: Any) -> type:
            """Return the class; PyTorch's options choose among tools that are not needed here."""
            return cls

    return BuildExtension


def __getattr__(name: str) -> Any:
    if name == "BuildExtension":  # setuptools is imported by those who use it
        value = globals()[name] = _make_build_extension()
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
