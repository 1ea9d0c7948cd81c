"""Conversions of dtype, device and memory format."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

composite("to_dtype_format(Tensor self, DType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
          names="Tensor.to", method=False, out=False, doc="`self` with another dtype.")
composite("to_other(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
          names="Tensor.to", method=False, out=False, doc="`self` with the dtype and device of `other`.")
composite("to(Tensor self, Device? device=None, DType? dtype=None, bool non_blocking=False, bool copy=False, *,"
          " MemoryFormat? memory_format=None)", names="Tensor.to", method=False, out=False, doc="`self` on a device, with a dtype.")
manual("to_device(Tensor self, Device? device)", linear=True, batch="leading", names="", grad={"self": "to_device(grad, device(self))"},
       doc="A copy on another device.")
composite("type_as(Tensor self, Tensor other)", "to_dtype_format(self, dtype(other))", names="", method=True, out=False,
          doc="`self` with the dtype of `other`.", devices="any")
for name, dtype in (("float", "float32"), ("double", "float64"), ("half", "float16"), ("bfloat16", "bfloat16"), ("long", "int64"),
                    ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"), ("bool", "bool"),
                    ("cfloat", "complex64"), ("cdouble", "complex128")):
    composite(f"to_{dtype}(Tensor self, *, MemoryFormat? memory_format=None)", names=f"Tensor.{name}", method=False, out=False,
              doc=f"`self` as {dtype}.")
