"""Decodes the blocks of events: numbers, and texts with their lengths. Next: start."""

import os
import struct


def decode(block, at, count):
    """Returns `count` texts of a block, and the place behind them.

    A text is its length, the bytes, and zeros up to a multiple of 4 bytes with at least one zero.
    """
    texts = []
    for _ in range(count):
        (length,) = struct.unpack_from("<I", block, at)
        at += 4
        texts.append(os.fsdecode(block[at : at + length]))
        at += (length + 4) & ~3
    return texts, at


def split_variable(text):
    """Returns the name and the value of a variable of the environment."""
    name, _, value = text.partition("=")
    return name, value
