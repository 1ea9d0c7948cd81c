"""Weights from the network, under the older name of `facula.hub`'s function."""

from facula.hub import load_state_dict_from_url, tqdm

__all__ = ["load_url", "tqdm"]

load_url = load_state_dict_from_url
