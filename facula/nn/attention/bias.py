"""Masks as objects: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "causal_lower_right causal_upper_left",
    "CausalBias CausalVariant",
    "is_causal and attn_mask of scaled_dot_product_attention are the way",
)
