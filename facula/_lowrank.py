"""Low-rank factors under the module name that PyTorch gives them."""

from facula import pca_lowrank, svd_lowrank

__all__ = ["pca_lowrank", "svd_lowrank"]
