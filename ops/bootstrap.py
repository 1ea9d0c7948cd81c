"""Rows that stand in until their families land; the families replace them."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

manual("sum(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)",
       grad={"self": "expand_reduced(grad, shape(self), dim, keepdim)"}, doc="The sum over dimensions.")
composite("expand_reduced(Tensor grad, int[] sizes, int[]? dim, bool keepdim)", names="", doc="Undoes a reduction's loss of dimensions.")
manual("flip(Tensor self, int[] dims)", grad={"self": "flip(grad, dims)"}, doc="Reverses dimensions.")
manual("index(Tensor self, Tensor?[] indices)", names="", doc="Advanced indexing.")
manual("index_put_(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False)", names="", method=True, doc="Advanced assignment.")
