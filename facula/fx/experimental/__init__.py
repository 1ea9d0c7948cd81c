"""Experimental parts of tracing: questions about it, answered for a program that runs eagerly."""
