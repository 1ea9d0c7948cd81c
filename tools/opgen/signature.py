"""Signatures of rows: "softmax(Tensor self, int dim, *, DType? dtype=None) -> Tensor" as data."""
from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TypeInfo:
    """How a type of the table is spelled in C++, in Python stubs and in the argument parser."""

    cpp: str  # parameter type
    stored: str  # member type of a node that saves the value
    arg: str  # ArgType of the parser
    get: str  # accessor of Bound
    stub: str
    unpack: str = "{}"  # how a stored member becomes a parameter again


TYPES = {
    "Tensor": TypeInfo("const Tensor&", "SavedTensor", "kTensor", "tensor", "Tensor"),
    "Tensor?": TypeInfo("const Tensor&", "SavedTensor", "kOptTensor", "opt_tensor", "Tensor | None"),
    "Tensor[]": TypeInfo("TensorList", "SavedTensors", "kTensorList", "tensors", "Sequence[Tensor]"),
    "Tensor?[]": TypeInfo("TensorList", "SavedTensors", "kOptTensorList", "tensors",
                          "Sequence[Tensor | None]"),
    "Tensor|Scalar": TypeInfo("const TensorOrScalar&", "SavedOperand", "kOperand", "operand",
                              "Tensor | Number"),
    "Scalar": TypeInfo("const Scalar&", "Scalar", "kScalar", "scalar", "Number"),
    "Scalar?": TypeInfo("std::optional<Scalar>", "std::optional<Scalar>", "kOptScalar", "opt_scalar",
                        "Number | None"),
    "int": TypeInfo("int64_t", "int64_t", "kInt", "integer", "int"),
    "Dim": TypeInfo("int64_t", "int64_t", "kInt", "integer", "int"),
    "int?": TypeInfo("std::optional<int64_t>", "std::optional<int64_t>", "kOptInt", "opt_integer",
                     "int | None"),
    "int[]": TypeInfo("IntList", "Sizes", "kIntList", "ints", "int | Sequence[int]"),
    "int[]?": TypeInfo("OptIntList", "SavedInts", "kOptIntList", "ints", "int | Sequence[int] | None"),
    "int...": TypeInfo("IntList", "Sizes", "kVarInts", "ints", "int | Sequence[int]"),
    "float": TypeInfo("double", "double", "kFloat", "real", "float"),
    "float?": TypeInfo("std::optional<double>", "std::optional<double>", "kOptFloat", "opt_real",
                       "float | None"),
    "float[]": TypeInfo("std::span<const double>", "std::vector<double>", "kFloatList", "reals",
                        "Sequence[float]"),
    "float[]?": TypeInfo("std::optional<std::span<const double>>", "SavedFloats", "kOptFloatList",
                         "opt_reals", "Sequence[float] | None"),
    "bool": TypeInfo("bool", "bool", "kBool", "boolean", "bool"),
    "bool[]": TypeInfo("uint64_t", "uint64_t", "", "", "int"),
    "bool?": TypeInfo("std::optional<bool>", "std::optional<bool>", "kOptBool", "opt_boolean",
                      "bool | None"),
    "str": TypeInfo("std::string_view", "std::string", "kStr", "text", "str"),
    "str?": TypeInfo("std::optional<std::string_view>", "std::optional<std::string>", "kOptStr",
                     "opt_text", "str | None"),
    "DType": TypeInfo("DType", "DType", "kDType", "dtype", "dtype"),
    "DType?": TypeInfo("std::optional<DType>", "std::optional<DType>", "kOptDType", "opt_dtype",
                       "dtype | None"),
    "Device?": TypeInfo("std::optional<Device>", "std::optional<Device>", "kOptDevice", "opt_device",
                        "device | str | int | None"),
    "Generator?": TypeInfo("Generator*", "Generator*", "kOptGenerator", "generator",
                           "Generator | None"),
    "MemoryFormat?": TypeInfo("std::optional<MemoryFormat>", "std::optional<MemoryFormat>",
                              "kOptMemoryFormat", "opt_memory_format", "memory_format | None"),
    "Layout?": TypeInfo("", "", "kOptLayout", "", "layout | None"),
}
TENSORS = ("Tensor", "Tensor?", "Tensor|Scalar")
TENSOR_LISTS = ("Tensor[]", "Tensor?[]")
RETURNS = {"Tensor": "Tensor", "Tensor[]": "std::vector<Tensor>", "bool": "bool", "int": "int64_t",
           "float": "double", "Scalar": "Scalar", "Size": "Sizes", "DType": "DType", "None": "void"}
RETURN_STUBS = {"Tensor": "Tensor", "Tensor[]": "tuple[Tensor, ...]", "bool": "bool", "int": "int",
                "float": "float", "Scalar": "Number", "Size": "Size", "DType": "dtype", "None": "None"}


@dataclass
class Param:
    """One parameter; `default` is its Python text or None."""

    type: str
    name: str
    default: str | None = None
    keyword: bool = False

    @property
    def info(self) -> TypeInfo:
        return TYPES[self.type]

    @property
    def is_tensor(self) -> bool:
        return self.type in TENSORS

    @property
    def is_list(self) -> bool:
        return self.type in TENSOR_LISTS

    def cpp_default(self) -> str:
        d, t = self.default, self.type
        if d == "None":
            return {"Tensor?": "Tensor()", "Generator?": "nullptr"}.get(t, "std::nullopt")
        if d in ("True", "False"):
            return f"Scalar({d.lower()})" if t == "Scalar" else d.lower()
        if t == "Scalar":
            return f"Scalar({cpp_number(d)})"
        if t == "Tensor|Scalar":
            return f"TensorOrScalar({cpp_number(d)})"
        if t == "Scalar?":
            return f"std::optional<Scalar>(Scalar({cpp_number(d)}))"
        if t in ("int[]", "int...", "int[]?"):
            inner = d.strip("()[]").rstrip(",")
            return f"IntList({{{inner}}})" if inner else "IntList()"
        if t in ("float[]", "float[]?"):
            return "{}"
        if t in ("str", "str?"):
            return '"' + d.strip("'\"") + '"'
        if t in ("DType", "DType?"):
            return "k" + {"int64": "Int64", "float32": "Float32", "bool": "Bool"}[d]
        if t in ("float", "float?"):
            return cpp_number(d)
        return d


def cpp_number(text: str) -> str:
    """A Python number in C++."""
    return {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(text, text)


@dataclass
class Output:
    """One result of a row."""

    type: str
    name: str


@dataclass
class Signature:
    """A parsed signature."""

    name: str
    params: list[Param]
    outputs: list[Output]
    returns: str  # "Tensor", "tuple", "Tensor[]", "bool", ...
    text: str = ""
    tensor_params: list[Param] = field(default_factory=list)

    def __post_init__(self):
        self.tensor_params = [p for p in self.params if p.is_tensor or p.is_list]

    def param(self, name: str) -> Param | None:
        return next((p for p in self.params if p.name == name), None)

    @property
    def cpp_return(self) -> str:
        if self.returns == "tuple":
            return "std::tuple<" + ", ".join(["Tensor"] * len(self.outputs)) + ">"
        return RETURNS[self.returns]


def split_top(text: str) -> list[str]:
    """Split at commas that stand outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


def parse_signature(text: str, where: str) -> Signature:
    """Parse a row's signature; SyntaxError names file and line."""
    text = " ".join(text.split())
    m = re.fullmatch(r"(\w+)\((.*?)\)(?: -> (.+))?", text)
    if not m:
        raise SyntaxError(f"{where}: not a signature: {text}")
    name, args, ret = m[1], m[2], m[3] or "Tensor"
    params, keyword = [], False
    for part in split_top(args):
        if part == "*":
            keyword = True
            continue
        p = re.fullmatch(r"(\S+) (\w+)(?:=(.+))?", part)
        if not p or p[1] not in TYPES:
            raise SyntaxError(f"{where}: not a parameter: {part!r} in {text}")
        params.append(Param(p[1], p[2], p[3], keyword))
    if ret.startswith("("):
        outputs = []
        for part in split_top(ret[1:-1]):
            kind, _, out = part.partition(" ")
            outputs.append(Output(kind, out or f"result{len(outputs)}"))
        return Signature(name, params, outputs, "tuple", text)
    if ret not in RETURNS:
        raise SyntaxError(f"{where}: not a result: {ret!r}")
    outputs = [Output(ret, "result")] if ret in ("Tensor", "Tensor[]") else []
    return Signature(name, params, outputs, ret, text)
