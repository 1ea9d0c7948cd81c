"""How functions written in Python offer their calls to `__torch_function__`: before they look at
their arguments, for what overrides them need not be a tensor.
"""

from __future__ import annotations

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["offered", "overridden"]

#: Whether one of the arguments overrides functions, or a mode does.
overridden = _C._has_torch_function_variadic


def offered(function: Any, given: dict[str, Any]) -> Any:
    """Give what `__torch_function__` makes of a call of `function`; `given` is `locals()` where the
    function begins. Arguments with defaults go by name, as from PyTorch.

    Example:
        >>> def twice(input, alpha=2.0):
        ...     if overridden(input):
        ...         return offered(twice, locals())
        ...     return alpha * input
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    required = code.co_argcount - len(function.__defaults__ or ())
    args = tuple(given[name] for name in names[:required])
    named = {name: given[name] for name in names[required:]}
    relevant = tuple(v for v in (*args, *named.values()) if hasattr(type(v), "__torch_function__"))
    return _C._handle_torch_function(function, relevant, args, named)
