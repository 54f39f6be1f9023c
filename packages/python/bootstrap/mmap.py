"""The module `mmap` does not exist in this guest."""

raise ImportError("mmap is not available: a guest in WebAssembly cannot map files into its memory", name="mmap")
