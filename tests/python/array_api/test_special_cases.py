"""The standard's rules for zeros, infinities and NaN, of functions and of the operators of arrays.

A rule says what is given where its conditions hold. The conditions of an operand are joined by "&":
"0" and "inf" stand for both signs, "fin" for a finite number, "nonzero" for a finite one that is
not zero. The results "+" and "-" ask for a sign, "x1" and "x2" for an operand.
"""

from __future__ import annotations

import itertools
import math
import operator

import pytest

from facula import array_api as xp

inf, nan = math.inf, math.nan
pi = math.pi

UNARY = {
    "abs": "nan:nan -0:+0 -inf:+inf",
    "acos": "nan:nan >1:nan <-1:nan 1:+0",
    "acosh": "nan:nan <1:nan 1:+0 +inf:+inf",
    "asin": "nan:nan >1:nan <-1:nan +0:+0 -0:-0",
    "asinh": "nan:nan +0:+0 -0:-0 +inf:+inf -inf:-inf",
    "atan": "nan:nan +0:+0 -0:-0 +inf:pi/2 -inf:-pi/2",
    "atanh": "nan:nan <-1:nan >1:nan -1:-inf 1:+inf +0:+0 -0:-0",
    "ceil": "integer:x +inf:+inf -inf:-inf +0:+0 -0:-0 nan:nan",
    "cos": "nan:nan +0:1 -0:1 +inf:nan -inf:nan",
    "cosh": "nan:nan +0:1 -0:1 +inf:+inf -inf:+inf",
    "exp": "nan:nan +0:1 -0:1 +inf:+inf -inf:+0",
    "expm1": "nan:nan +0:+0 -0:-0 +inf:+inf -inf:-1",
    "floor": "integer:x +inf:+inf -inf:-inf +0:+0 -0:-0 nan:nan",
    "isfinite": "inf:false nan:false fin:true",
    "isinf": "inf:true !inf:false",
    "isnan": "nan:true !nan:false",
    "log": "nan:nan <0:nan 0:-inf 1:+0 +inf:+inf",
    "log1p": "nan:nan <-1:nan -1:-inf -0:-0 +0:+0 +inf:+inf",
    "log2": "nan:nan <0:nan 0:-inf 1:+0 +inf:+inf",
    "log10": "nan:nan <0:nan 0:-inf 1:+0 +inf:+inf",
    "reciprocal": "nan:nan +0:+inf -0:-inf +inf:+0 -inf:-0",
    "round": "integer:x half:even +inf:+inf -inf:-inf +0:+0 -0:-0 nan:nan",
    "sign": "<0:-1 0:zero >0:1 nan:nan",
    "signbit": "+0:false -0:true +inf:false -inf:true >0&fin:false <0&fin:true "
    "nan&unsigned:false nan&signed:true",
    "sin": "nan:nan +0:+0 -0:-0 inf:nan",
    "sinh": "nan:nan +0:+0 -0:-0 +inf:+inf -inf:-inf",
    "sqrt": "nan:nan <0:nan +0:+0 -0:-0 +inf:+inf",
    "square": "nan:nan 0:+0 inf:+inf",
    "tan": "nan:nan +0:+0 -0:-0 inf:nan",
    "tanh": "nan:nan +0:+0 -0:-0 +inf:1 -inf:-1",
    "trunc": "integer:x +inf:+inf -inf:-inf +0:+0 -0:-0 nan:nan",
}

BINARY = {
    "add": "nan,any:nan any,nan:nan +inf,-inf:nan -inf,+inf:nan +inf,+inf:+inf -inf,-inf:-inf "
    "+inf,fin:+inf -inf,fin:-inf fin,+inf:+inf fin,-inf:-inf -0,-0:-0 -0,+0:+0 +0,-0:+0 +0,+0:+0 "
    "0,nonzero:x2 nonzero,0:x1 nonzero,opposite:+0",
    "atan2": "nan,any:nan any,nan:nan >0,+0:pi/2 >0,-0:pi/2 +0,>0:+0 +0,+0:+0 +0,-0:pi +0,<0:pi "
    "-0,>0:-0 -0,+0:-0 -0,-0:-pi -0,<0:-pi <0,+0:-pi/2 <0,-0:-pi/2 >0&fin,+inf:+0 >0&fin,-inf:pi "
    "<0&fin,+inf:-0 <0&fin,-inf:-pi +inf,fin:pi/2 -inf,fin:-pi/2 +inf,+inf:pi/4 +inf,-inf:3pi/4 "
    "-inf,+inf:-pi/4 -inf,-inf:-3pi/4",
    "copysign": "!nan,<0:-abs !nan,-0:-abs !nan,+0:abs !nan,>0:abs !nan,nan&signed:-abs "
    "!nan,nan&unsigned:abs nan,any:nan",
    "divide": "nan,any:nan any,nan:nan inf,inf:nan 0,0:nan +0,>0:+0 -0,>0:-0 +0,<0:-0 -0,<0:+0 "
    ">0,+0:+inf >0,-0:-inf <0,+0:-inf <0,-0:+inf +inf,>0&fin:+inf +inf,<0&fin:-inf "
    "-inf,>0&fin:-inf -inf,<0&fin:+inf >0&fin,+inf:+0 >0&fin,-inf:-0 <0&fin,+inf:-0 <0&fin,-inf:+0 "
    "nonzero,nonzero&like:+ nonzero,nonzero&unlike:-",
    "equal": "nan,any:false any,nan:false +inf,+inf:true -inf,-inf:true 0,0:true fin,same:true "
    "fin,!same:false",
    "floor_divide": "nan,any:nan any,nan:nan inf,inf:nan 0,0:nan +0,>0:+0 -0,>0:-0 +0,<0:-0 "
    "-0,<0:+0 >0,+0:+inf >0,-0:-inf <0,+0:-inf <0,-0:+inf +inf,>0&fin:+inf +inf,<0&fin:-inf "
    "-inf,>0&fin:-inf -inf,<0&fin:+inf >0&fin,+inf:+0 >0&fin,-inf:-0 <0&fin,+inf:-0 <0&fin,-inf:+0 "
    "nonzero,nonzero&like:+ nonzero,nonzero&unlike:-",
    "greater": "nan,any:false any,nan:false +inf,fin:true -inf,fin:false 0,0:false",
    "greater_equal": "nan,any:false any,nan:false +inf,fin:true -inf,fin:false 0,0:true",
    "hypot": "inf,any:+inf any,inf:+inf 0,!nan:abs2 !nan,0:abs fin,nan:nan nan,fin:nan nan,nan:nan",
    "less": "nan,any:false any,nan:false +inf,fin:false -inf,fin:true 0,0:false",
    "less_equal": "nan,any:false any,nan:false +inf,fin:false -inf,fin:true 0,0:true",
    "logaddexp": "nan,any:nan any,nan:nan +inf,!nan:+inf !nan,+inf:+inf -inf,-inf:-inf",
    "maximum": "nan,any:nan any,nan:nan +inf,!nan:+inf -inf,!nan:x2",
    "minimum": "nan,any:nan any,nan:nan -inf,!nan:-inf +inf,!nan:x2",
    "multiply": "nan,any:nan any,nan:nan inf,0:nan 0,inf:nan !nan,!nan&like:+ !nan,!nan&unlike:- "
    "+inf,>0:+inf +inf,<0:-inf -inf,>0:-inf -inf,<0:+inf >0,+inf:+inf <0,-inf:+inf",
    "nextafter": "nan,any:nan any,nan:nan -0,+0:+0 +0,-0:-0",
    "not_equal": "nan,any:true any,nan:true +inf,-inf:true -inf,+inf:true fin,same:false "
    "fin,!same:true",
    "pow": "!1,nan:nan any,+0:1 any,-0:1 nan,!0:nan big,+inf:+inf big,-inf:+0 unit,+inf:1 "
    "unit,-inf:1 1,!nan:1 small,+inf:+0 small,-inf:+inf +inf,>0:+inf +inf,<0:+0 -inf,>0&odd:-inf "
    "-inf,>0&!odd:+inf -inf,<0&odd:-0 -inf,<0&!odd:+0 +0,>0:+0 +0,<0:+inf -0,>0&odd:-0 "
    "-0,>0&!odd:+0 -0,<0&odd:-inf -0,<0&!odd:+inf <0&fin,fin&!integer:nan",
    "remainder": "nan,any:nan any,nan:nan inf,inf:nan 0,0:nan +0,>0:+0 -0,>0:+0 +0,<0:-0 -0,<0:-0 "
    ">0,+0:nan >0,-0:nan <0,+0:nan <0,-0:nan +inf,fin:nan -inf,fin:nan >0&fin,+inf:x1 "
    ">0&fin,-inf:x2 <0&fin,+inf:x2 <0&fin,-inf:x1",
    "subtract": "nan,any:nan any,nan:nan +inf,+inf:nan -inf,-inf:nan +inf,-inf:+inf -inf,+inf:-inf "
    "+inf,fin:+inf -inf,fin:-inf fin,+inf:-inf fin,-inf:+inf -0,+0:-0 -0,-0:+0 +0,+0:+0 +0,-0:+0 "
    "nonzero,0:x1 nonzero,same:+0",
}

OPERATORS = {
    "abs": "__abs__", "add": "__add__", "divide": "__truediv__", "equal": "__eq__",
    "floor_divide": "__floordiv__", "greater": "__gt__", "greater_equal": "__ge__",
    "less": "__lt__", "less_equal": "__le__", "multiply": "__mul__", "not_equal": "__ne__",
    "pow": "__pow__", "remainder": "__mod__", "subtract": "__sub__",
}  # fmt: skip
COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}

#: Where `//` of a tensor follows Python and PyTorch, which the standard lets a library do.
PYTHON_QUOTIENTS = {
    "+inf,>0&fin": nan, "+inf,<0&fin": nan, "-inf,>0&fin": nan, "-inf,<0&fin": nan,
    ">0&fin,-inf": -1.0, "<0&fin,+inf": -1.0,
}  # fmt: skip

VALUES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.0, -2.0, 2.5, 3.0, -3.0, -7.25, 2.0**-149,
    -(2.0**-149), 2.0**127, -(2.0**127), 2.0**23 + 1, 2.0**-10, inf, -inf, nan,
    math.copysign(nan, -1),
]  # fmt: skip


def negative(v: float) -> bool:
    return math.copysign(1, v) < 0


def is_integer(v: float) -> bool:
    return math.isfinite(v) and v == int(v)


CONDITIONS = {
    "any": lambda v: True,
    "nan": math.isnan,
    "inf": math.isinf,
    "fin": math.isfinite,
    "nonzero": lambda v: math.isfinite(v) and v != 0,
    "+inf": lambda v: v == inf,
    "-inf": lambda v: v == -inf,
    "0": lambda v: v == 0,
    "+0": lambda v: v == 0 and not negative(v),
    "-0": lambda v: v == 0 and negative(v),
    "1": lambda v: v == 1,
    "-1": lambda v: v == -1,
    ">0": lambda v: v > 0,
    "<0": lambda v: v < 0,
    ">1": lambda v: v > 1,
    "<1": lambda v: v < 1,
    "<-1": lambda v: v < -1,
    "big": lambda v: abs(v) > 1,
    "small": lambda v: abs(v) < 1,
    "unit": lambda v: abs(v) == 1,
    "integer": is_integer,
    "odd": lambda v: is_integer(v) and int(v) % 2 == 1,
    "half": lambda v: math.isfinite(v) and abs(v - int(v)) == 0.5,
    "signed": negative,
    "unsigned": lambda v: not negative(v),
}
#: Conditions of the second operand beside the first.
RELATIONS = {
    "same": lambda v, w: w == v,
    "opposite": lambda v, w: w == -v,
    "like": lambda v, w: negative(v) == negative(w),
    "unlike": lambda v, w: negative(v) != negative(w),
}
RESULTS = {
    "nan": nan, "+inf": inf, "-inf": -inf, "+0": 0.0, "-0": -0.0, "1": 1.0, "-1": -1.0,
    "true": 1.0, "false": 0.0,
}  # fmt: skip
ANGLES = {"pi": pi, "pi/2": pi / 2, "pi/4": pi / 4, "3pi/4": 3 * pi / 4}


def holds(conditions: str, value: float, first: float = nan) -> bool:
    """Say whether all conditions hold of a value, which may come after a first one."""
    for condition in conditions.split("&"):
        wanted = not condition.startswith("!")
        name = condition.removeprefix("!")
        found = RELATIONS[name](first, value) if name in RELATIONS else CONDITIONS[name](value)
        if found != wanted:
            return False
    return True


def same(found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == expected and negative(found) == negative(expected)


def fits(result: str, found: float, operands: tuple[float, ...]) -> bool:
    """Say whether what was found is the result of a rule."""
    if result in ("+", "-"):
        return math.isnan(found) or negative(found) == (result == "-")
    if result == "zero":
        return found == 0
    if result.removeprefix("-") in ANGLES:
        angle = math.copysign(ANGLES[result.removeprefix("-")], -1 if result[0] == "-" else 1)
        return math.isclose(found, angle, rel_tol=1e-6)
    own = {
        "x": operands[0],
        "x1": operands[0],
        "x2": operands[-1],
        "abs": abs(operands[0]),
        "-abs": -abs(operands[0]),
        "abs2": abs(operands[-1]),
        "even": math.copysign(round(operands[0]), operands[0]) if result == "even" else nan,
    }
    return same(found, RESULTS[result] if result in RESULTS else own[result])


def check(rules: str, operands: list[tuple[float, ...]], found: list[float], instead: dict) -> None:
    for rule in rules.split():
        conditions, result = rule.split(":")
        kept = conditions.split(",")
        met = 0
        for values, value in zip(operands, found, strict=True):
            if all(holds(c, v, values[0]) for c, v in zip(kept, values, strict=True)):
                met += 1
                good = (
                    same(value, instead[conditions])
                    if conditions in instead
                    else fits(result, value, values)
                )
                assert good, f"{rule}: {value} of {values}"
        assert met, f"no operands for {rule}"


def arrays(operands: list[tuple[float, ...]], dtype) -> list:
    return [xp.asarray(list(column), dtype=dtype) for column in zip(*operands, strict=True)]


DTYPES = [xp.float32, xp.float64]


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    operands = [(v,) for v in VALUES]
    (x,) = arrays(operands, dtype)
    found = getattr(xp, name)(x)
    check(UNARY[name], operands, [float(v) for v in found], {})
    if name in OPERATORS:
        by_operator = getattr(operator, OPERATORS[name])(x)
        check(UNARY[name], operands, [float(v) for v in by_operator], {})


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    operands = list(itertools.product(VALUES, VALUES))
    x, y = arrays(operands, dtype)
    check(BINARY[name], operands, [float(v) for v in getattr(xp, name)(x, y)], {})
    if name not in OPERATORS:
        return
    method = OPERATORS[name]
    instead = PYTHON_QUOTIENTS if name == "floor_divide" else {}
    methods = [method] if method in COMPARISONS else [method, "__i" + method[2:]]
    for each in methods:
        found = getattr(operator, each)(xp.asarray(x, copy=True), y)
        check(BINARY[name], operands, [float(v) for v in found], instead)


@pytest.mark.parametrize("name", ["mean", "prod", "std", "sum", "var"])
def test_reductions_of_nothing(name):
    expected = {"prod": 1.0, "sum": 0.0}.get(name, nan)
    found = getattr(xp, name)(xp.asarray([], dtype=xp.float32))
    assert found.shape == () and same(float(found), expected)


@pytest.mark.parametrize("name", ["max", "mean", "min", "prod", "std", "sum", "var"])
def test_nan_of_reductions(name):
    x = xp.asarray([[1.0, nan, inf], [0.0, -inf, 2.0]])
    assert math.isnan(float(getattr(xp, name)(x)))
    assert math.isnan(float(getattr(xp, name)(x, axis=1)[0]))
