"""A function mode that only capture needs: here it changes nothing."""

from facula.overrides import BaseTorchFunctionMode


class TransformGetItemToIndex(BaseTorchFunctionMode):
    """Makes indexing capturable; without capture it calls every function as it is."""
