"""Quantised operators: this build has none."""

engine = "none"
supported_engines = ["none"]
