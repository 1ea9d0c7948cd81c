"""Streams and events of CUDA devices, under the name of their module."""

from facula.cuda import Event, ExternalStream, Stream

__all__ = ["Event", "ExternalStream", "Stream"]
