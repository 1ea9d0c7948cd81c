"""Starting and watching several processes: not built."""
