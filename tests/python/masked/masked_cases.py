"""Calls of tensors with masks, written for either library: what test_maskedtensor.py checks against
recorded results. `t` is the library; `a`, `b` and `i` are tensors with masks, `p` is a plain one.
"""

from __future__ import annotations

UNARY = (
    "abs acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp "
    "exp2 expm1 floor frac lgamma log log10 log1p log2 i0 isnan nan_to_num neg positive rad2deg "
    "reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt square tan tanh trunc"
).split()
BINARY = (
    "add atan2 div fmod logaddexp logaddexp2 mul nextafter remainder sub eq ne le ge gt lt maximum "
    "minimum fmax fmin floor_divide"
).split()
REDUCTIONS = "sum mean amin amax argmin argmax prod all norm var std".split()

CASES = (
    [f"t.{name}(a)" for name in UNARY]
    + [f"t.{name}(a, a2)" for name in BINARY]
    + [f"t.{name}(a, p)" for name in ("add", "mul", "maximum", "eq")]
    + [f"a.{name}()" for name in REDUCTIONS if name != "norm"]
    + [f"t.{name}(a, 1)" for name in REDUCTIONS if name != "norm"]
    + [f"a.{name}(dim=0, keepdim=True)" for name in REDUCTIONS if name != "norm"]
    + [f"i.{name}(1)" for name in ("sum", "amin", "amax", "prod", "argmax", "all")]
    + """
        a
        i
        a[0]
        a[:, 1]
        a[0, 1]
        a[1, 2]
        a[:, 1:]
        a.t()
        a.transpose(0, 1)
        a.view(6)
        a.reshape(3, 2)
        a.unsqueeze(0)
        a.expand(2, 3)
        t.cat([a, a2])
        t.stack([a, a2])
        a.split(1)[1]
        a[t.tensor([1, 0])]
        a + 1
        2 * a
        1 / a
        a ** 2
        a.pow(3)
        -a
        a.clamp(0.2, 0.8)
        a < a2
        a < 0.5
        a > 0.5
        a == a2
        i & i
        i | 1
        ~i
        i // 2
        a.softmax(1)
        t.softmax(a, 0)
        t.where(t.tensor([[True, False, True], [False, True, True]]), a, a2)
        t.where(t.tensor([[True, False, True], [False, True, True]]), a, b)
        a.to_tensor(-1.0)
        i.to_tensor(7)
        a.get_data()
        a.get_mask()
        a.clone()
        a.detach()
        a.double()
        a.to(t.int64)
        a.contiguous()
        a.sum().item()
        t.ones_like(a)
        a.add_(1)
        a.mul_(a2)
        a.neg_()
        a.dtype
        a.shape
        a.dim()
        a.requires_grad
        a.is_contiguous()
        a.sum(0).get_mask()
        b.sum(1)
        b.mean(1)
        b.amax(1)
        t.masked.sum(a, 1)
        t.masked.amax(a, 0)
        t.masked.softmax(a, 1)
        t.masked.is_masked_tensor(a)
        t.masked.is_masked_tensor(p)
    """.split("\n")
)
CASES = [c.strip() for c in CASES if c.strip()]

GRADIENTS = """
    a.sum()
    a.mean()
    (a * 2).sum()
    (a * a2).sum()
    (a * p).sum()
    (a / a2).sum()
    (a - a2).amax()
    a.amin()
    a.prod()
    a.exp().sum()
    a.log().mean()
    a.sqrt().sum()
    a.sin().sum()
    a.abs().sum()
    (a ** 2).sum()
    a.square().sum()
    a.reciprocal().sum()
    a.neg().sum()
    a.sum(1).sum()
    a.mean(0).sum()
    (a.sum(0) * 3).sum()
    a[0].sum()
    a[:, 1:].sum()
    a.t().sum()
    a.view(6).sum()
    (a.softmax(1) * a2).sum()
    t.where(t.tensor([[True, False, True], [False, True, True]]), a, a2).sum()
    a.to_tensor(0.0).sum()
    a.get_data().sum()
    t.masked.sum(a)
    a.var()
    a.std(1).sum()
    (a + a2.detach()).sum()
    a.clone().sum()
    a.contiguous().sum()
""".split("\n")
GRADIENTS = [c.strip() for c in GRADIENTS if c.strip()]

ERRORS = """
    a + b
    a.mul_(b)
    t.maximum(a, b)
    t.masked.masked_tensor([1.0], t.tensor([True]))
    t.masked.masked_tensor(p, [True])
    t.masked.masked_tensor(a, a.get_mask())
    t.masked.masked_tensor(p, a)
    t.masked.masked_tensor(p, p)
    t.masked.masked_tensor(p, t.tensor([True]))
    t.masked.masked_tensor(p, t.ones(3, 2, dtype=t.bool))
    t.masked.masked_tensor(p.to(t.uint8), t.ones(2, 3, dtype=t.bool))
    t.masked.masked_tensor(p.to(t.complex64), t.ones(2, 3, dtype=t.bool))
    a[0, 1].item()
    a @ a.t()
    t.pow(a, a2)
    a.cumsum(0)
    t.where(p > 0, a)
    t.add(a, a2, alpha=2)
    a.tolist()
""".split("\n")
ERRORS = [c.strip() for c in ERRORS if c.strip()]


TEXTS = (
    "a|i|a[0]|a[0, 1]|a[1, 0]|a.sum()|a.all()|a < a2|a.unsqueeze(0)|b.sum(1)|1000 * a|i[1, 1]|"
    "t.isnan(a)|a.argmax()"
).split("|")


def scope(t, gradients=False):
    """The names that cases use."""
    data = t.tensor([[0.25, 0.5, 0.75], [0.1, -0.9, 0.6]])
    mask = t.tensor([[True, False, True], [True, True, False]])
    other = t.tensor([[0.7, 0.3, 0.2], [0.9, 0.4, -0.8]])
    make = t.masked.masked_tensor
    return {
        "t": t,
        "a": make(data, mask, requires_grad=gradients),
        "a2": make(other, mask, requires_grad=gradients),
        "b": make(other, t.tensor([[False, False, False], [True, True, True]])),
        "i": make(t.tensor([[1, 2, 3], [4, 5, 6]]), mask),
        "p": other.clone(),
    }


def plain(x):
    """What a result is, as JSON holds it."""
    if hasattr(x, "get_mask"):
        data, mask = x.get_data().detach(), x.get_mask()
        kind = str(data.dtype).rpartition(".")[2]
        return {"masked": data.masked_fill(~mask, 0).tolist(), "mask": mask.tolist(), "dtype": kind}
    if hasattr(x, "tolist") and hasattr(x, "dtype"):
        return {"tensor": x.tolist(), "dtype": str(x.dtype).rpartition(".")[2]}
    if isinstance(x, (bool, int, float)):
        return x
    if isinstance(x, (tuple, list)):
        return [plain(v) for v in x]
    return str(x).rpartition(".")[2]


def gradients(t, case):
    """The gradients of a and a2 of a case."""
    names = scope(t, True)
    eval(case, names).backward()
    return [None if names[n].grad is None else plain(names[n].grad) for n in ("a", "a2")]


def error(t, case):
    """The type of the error of a case."""
    try:
        eval(case, scope(t))
    except Exception as found:
        return type(found).__name__
    return "none"


def recorded(t):
    """All results."""
    return {
        "cases": {c: plain(eval(c, scope(t))) for c in CASES},
        "texts": {c: repr(eval(c, scope(t))) for c in TEXTS},
        "gradients": {c: gradients(t, c) for c in GRADIENTS},
        "errors": {c: error(t, c) for c in ERRORS},
    }
