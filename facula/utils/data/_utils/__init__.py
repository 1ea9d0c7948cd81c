"""Parts of the loader under the module names that PyTorch gives them."""

from facula.utils.data._utils import collate, worker

__all__ = ["collate", "worker"]
