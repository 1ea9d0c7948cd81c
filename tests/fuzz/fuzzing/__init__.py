"""Hostile calls of every public function: what to call, with what, safely in a child process."""
