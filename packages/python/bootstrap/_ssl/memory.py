"""MemoryBIO: the buffers of programs that move the bytes of TLS themselves. Next: certificates."""

from .errors import SSLError


class MemoryBIO:
    """A buffer of bytes with an end."""

    def __init__(self):
        self._data = bytearray()
        self._has_end = False

    @property
    def pending(self):
        """The number of bytes in the buffer."""
        return len(self._data)

    @property
    def at_end(self):
        """Whether no bytes follow."""
        return self._has_end and not self._data

    eof = at_end

    def peek(self):
        """Returns all bytes, and keeps them."""
        return bytes(self._data)

    def read(self, size=-1, /):
        """Removes and returns at most `size` bytes, or all bytes."""
        count = len(self._data) if size < 0 else size
        taken = bytes(memoryview(self._data)[:count])
        del self._data[: len(taken)]
        return taken

    def write(self, data, /):
        """Adds bytes. Returns their number."""
        if self._has_end:
            raise SSLError("cannot write() after write_eof()")
        with memoryview(data) as view:
            if not view.c_contiguous:
                raise BufferError("memoryview: underlying buffer is not C-contiguous")
            with view.cast("B") as octets:
                self._data += octets
                return len(octets)

    def write_eof(self):
        """Notes that no bytes follow."""
        self._has_end = True


MemoryBIO.__module__ = "_ssl"
