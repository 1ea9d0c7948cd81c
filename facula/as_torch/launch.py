"""Running a program as `python` runs it, with Facula under the name of torch."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
import types

import facula.as_torch


def _main_module(path: str) -> types.ModuleType:
    """Make `__main__` what it is when Python runs the file, and return it."""
    main = sys.modules["__main__"]
    main.__dict__.clear()
    main.__dict__.update(
        __name__="__main__",
        __builtins__=builtins,
        __file__=path,
        __doc__=None,
        __loader__=None,
        __spec__=None,
        __package__=None,
        __cached__=None,
        __annotations__={},
    )
    return main


def _program_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """Leave out the frames of this file and of runpy, which stand before those of the program."""
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    while traceback is not None and traceback.tb_frame.f_code.co_filename in ours:
        traceback = traceback.tb_next
    return traceback


def main() -> None:
    """Run what the command line names; an error that it leaves is reported as `python` does."""
    try:
        _run()
    except Exception as error:
        traceback = error.__traceback__ = _program_frames(error.__traceback__)
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, traceback
        sys.excepthook(type(error), error, traceback)
        sys.exit(1)


def _run() -> None:
    """Install the alias and run what the command line names."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit("usage: python -m facula.as_torch [-m module | -c code | program.py] [args]")
    facula.as_torch.install()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            sys.exit("facula.as_torch: -m needs the name of a module")
        sys.argv = arguments[1:]
        runpy._run_module_as_main(arguments[1])  # type: ignore[attr-defined]
        return
    if arguments[0] == "-c":
        if len(arguments) < 2:
            sys.exit("facula.as_torch: -c needs a program")
        sys.argv = ["-c", *arguments[2:]]
        sys.path[0] = ""
        source, path = arguments[1], "<string>"
    else:
        path = arguments[0]
        if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
            sys.argv = arguments
            runpy.run_path(path, run_name="__main__")
            return
        try:
            with open(path, "rb") as file:
                source = file.read()  # type: ignore[assignment]
        except OSError as error:
            sys.exit(f"facula.as_torch: can't open file {path!r}: {error.strerror}")
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    code = compile(source, path, "exec", dont_inherit=True)
    scope = _main_module(path).__dict__
    if path == "<string>":
        del scope["__file__"], scope["__cached__"]
    exec(code, scope)
