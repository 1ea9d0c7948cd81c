"""Pages of the package's modules: every public name with its signature, text and an example."""

from __future__ import annotations

import inspect
from typing import Any

import names
import samples


def shown(lines: list[str], scope: dict[str, Any]) -> str:
    """Runs an example and returns it with what it prints, as a block."""
    import facula

    out = []
    for line in lines:
        first, *rest = line.split("\n")
        out += [">>> " + first, *("... " + more for more in rest)]
    with samples.silence():
        value = samples.evaluate(lines, scope)
    if value is not None:
        text = repr(value)
        out.append(text if len(text) < 600 else text[:600] + " ...")
    facula.set_grad_enabled(True)
    return "```python\n" + "\n".join(out) + "\n```"


def signature_of(value: Any) -> str:
    """Returns the parameters of a callable as text; nothing where they are not known."""
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


def members(value: type) -> str:
    """Returns the public methods of a class, each with the first line of its text."""
    lines = []
    for name, member in sorted(vars(value).items()):
        text = inspect.getdoc(member) if callable(member) or isinstance(member, property) else None
        if name.startswith("_") or not text:
            continue
        call = "" if isinstance(member, property) else signature_of(member)
        lines.append(f"- `{name}{call}`: {text.splitlines()[0]}")
    return "\n".join(lines)


class Examples:
    """The examples at hand: written ones, and those that were found for operators."""

    def __init__(self, found: dict[str, list[str]]) -> None:
        self.written = names.written_examples()
        self.found = found
        self.by_object: dict[int, list[str]] = {}
        for full, lines in self.written.items():
            module, _, name = full.rpartition(".")
            value = getattr(names.load(module), name, None)
            if callable(value):
                self.by_object[id(value)] = lines

    def of(self, module: str, name: str) -> list[str] | None:
        """Returns the example of a name: its own, the same object's, or an operator's."""
        full = f"{module}.{name}"
        if full in self.written:
            return self.written[full]
        if full in self.found:
            return self.found[full]
        return self.by_object.get(id(getattr(names.load(module), name, None)))


def section(module: str, name: str, examples: Examples) -> str:
    """Returns the text of one name."""
    value = getattr(names.load(module), name)
    parts = [f"## {name}"]
    if callable(value):
        parts.append(f"```python\n{module}.{name}{signature_of(value)}\n```")
    if text := inspect.getdoc(value):
        parts.append(text)
    if isinstance(value, type) and (listed := members(value)):
        parts.append(listed)
    if lines := examples.of(module, name):
        parts.append(shown(lines, names.scope()))
    return "\n\n".join(parts)


def module_page(module: str, examples: Examples) -> tuple[str, list[str]]:
    """Returns the page of a module and the names on it."""
    found = names.public_names(module)
    text = inspect.getdoc(names.load(module)) or ""
    parts = [f"# {module}", text, *(section(module, name, examples) for name in found)]
    return "\n\n".join(part for part in parts if part) + "\n", found
