"""A buffer in memory, through which a program moves encrypted bytes itself. Next: socket."""

from .errors import SSLError


class MemoryBIO:
    """A buffer with an end."""

    __module__ = "_ssl"

    def __init__(self):
        self._bytes = bytearray()
        self._ended = False

    @property
    def pending(self):
        """The number of bytes pending in the memory BIO."""
        return len(self._bytes)

    @property
    def eof(self):
        """Whether the memory BIO is at EOF."""
        return self._ended and not self._bytes

    def read(self, size=-1, /):
        """Removes and returns at most `size` bytes, or all bytes."""
        count = len(self._bytes) if size is None or size < 0 else size
        found = bytes(self._bytes[:count])
        del self._bytes[:count]
        return found

    def write(self, b, /):
        """Appends bytes, and returns their number."""
        if self._ended:
            raise SSLError("cannot write() after write_eof()")
        data = memoryview(b).cast("B")
        self._bytes += data
        return len(data)

    def write_eof(self):
        """Ends the bytes."""
        self._ended = True
