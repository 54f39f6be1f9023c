"""The random numbers of `ssl`, which are the kernel's. Next: tickets."""

import os


def RAND_bytes(n, /):
    """Returns `n` random bytes."""
    if n < 0:
        raise ValueError("num must be positive")
    return os.urandom(n)


def RAND_add(string, entropy, /):
    """Has no effect. The kernel needs no entropy from programs."""


def RAND_status():
    """Returns whether random numbers are available."""
    return True
