"""Questions about tensors that need no data."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

for name, doc in (("is_complex", "Whether the dtype is complex."), ("is_floating_point", "Whether the dtype is floating."),
                  ("is_signed", "Whether the dtype is signed."), ("is_conj", "False: conjugates are always materialised."),
                  ("is_neg", "False: negatives are always materialised."), ("is_inference", "Whether made in inference mode.")):
    composite(f"{name}(Tensor self) -> bool", doc=doc)
composite("is_same_size(Tensor self, Tensor other) -> bool", doc="Whether shapes are equal.")
composite("is_nonzero(Tensor self) -> bool", doc="The truth value of a tensor of one element.")
