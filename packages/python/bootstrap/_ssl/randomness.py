"""The random bytes of `ssl`, which the sidecar makes. Next: __init__."""

import os


def RAND_bytes(n, /):
    """Returns random bytes."""
    if n < 0:
        raise ValueError("num must be positive")
    return os.urandom(n)


def RAND_add(string, entropy, /):
    """Accepts a seed. The sidecar needs none."""


def RAND_status():
    """Returns whether random bytes are available."""
    return True
