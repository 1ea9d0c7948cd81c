"""Attention with functions of scores and positions: not built."""

from facula import _absent

_DEFAULT_SPARSE_BLOCK_SIZE = 128


_absent.add_absent(
    globals(),
    "and_masks create_block_mask create_mask create_nested_block_mask flex_attention "
    "noop_mask or_masks",
    "AuxOutput AuxRequest BlockMask FlexKernelOptions",
    "functions of scores are not compiled into attention",
)
