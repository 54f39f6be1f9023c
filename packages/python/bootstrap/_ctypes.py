"""The part of `ctypes` in C does not exist in this guest."""

raise ImportError("ctypes is not available: a guest in WebAssembly cannot load native libraries", name="_ctypes")
