"""The module `mmap` over a copy of the file, because a guest cannot map files into its memory.

A map is a copy of the bytes that the file has when the map is made. So only maps that never write
to their file exist: with `ACCESS_READ`, with `ACCESS_COPY`, without write access, private, or
without a file.
"""

import errno
import os

ACCESS_DEFAULT, ACCESS_READ, ACCESS_WRITE, ACCESS_COPY = range(4)
MAP_SHARED, MAP_PRIVATE, MAP_ANON, MAP_ANONYMOUS = 1, 2, 32, 32
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
PAGESIZE = ALLOCATIONGRANULARITY = 65536

error = OSError


class mmap:  # noqa: N801
    """A copy of a part of a file, or zeros."""

    def __init__(
        self,
        fileno,
        length,
        flags=MAP_SHARED,
        prot=PROT_READ | PROT_WRITE,
        access=ACCESS_DEFAULT,
        offset=0,
        *,
        trackfd=True,
    ):
        if length < 0 or offset < 0:
            raise OverflowError("memory mapped length and offset must be positive")
        if offset % ALLOCATIONGRANULARITY:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        is_anonymous = fileno == -1 or flags & MAP_ANON
        if access == ACCESS_DEFAULT:
            writes = bool(prot & PROT_WRITE)
            is_shared = writes and not flags & MAP_PRIVATE
        else:
            writes, is_shared = access != ACCESS_READ, access == ACCESS_WRITE
        if is_anonymous:
            data = bytearray(length)
        elif is_shared:
            raise OSError(errno.ENODEV, "a map cannot write to its file: use ACCESS_READ, ACCESS_COPY or write()")
        else:
            data = _read(fileno, length, offset)
        self._data = data
        self._view = memoryview(data) if writes else memoryview(data).toreadonly()
        self._at = 0

    def _open(self):
        if self._view is None:
            raise ValueError("mmap closed or invalid")
        return self._view

    def __buffer__(self, flags):
        return memoryview(self._open())

    def __len__(self):
        return len(self._open())

    def __getitem__(self, key):
        part = self._open()[key]
        return part if isinstance(part, int) else part.tobytes()

    def __setitem__(self, key, value):
        self._open()[key] = value

    def __contains__(self, part):
        self._open()
        return part in self._data

    def __enter__(self):
        self._open()
        return self

    def __exit__(self, *_error):
        self.close()

    @property
    def closed(self):
        return self._view is None

    def close(self):
        if self._view is not None:
            self._view.release()
            self._view = self._data = None

    def find(self, part, start=None, end=None):
        self._open()
        return self._data.find(part, self._at if start is None else start, end)

    def rfind(self, part, start=None, end=None):
        self._open()
        return self._data.rfind(part, self._at if start is None else start, end)

    def read(self, count=None):
        end = len(self) if count is None or count < 0 else min(len(self), self._at + count)
        part = self[self._at : end]
        self._at = max(self._at, end)
        return part

    def read_byte(self):
        part = self.read(1)
        if not part:
            raise ValueError("read byte out of range")
        return part[0]

    def readline(self):
        self._open()
        end = self._data.find(b"\n", self._at)
        return self.read(None if end < 0 else end + 1 - self._at)

    def write(self, part):
        end = self._at + len(part)
        if end > len(self):
            raise ValueError("data out of range")
        self._open()[self._at : end] = part
        self._at = end
        return len(part)

    def write_byte(self, byte):
        self.write(bytes([byte]))

    def move(self, to, start, count):
        self._open()[to : to + count] = self[start : start + count]

    def seek(self, offset, whence=0):
        at = offset + (0, self._at, len(self))[whence]
        if not 0 <= at <= len(self):
            raise ValueError("seek out of range")
        self._at = at
        return at

    def seekable(self):
        return True

    def tell(self):
        self._open()
        return self._at

    def size(self):
        return len(self)

    def flush(self, _offset=0, _size=0):
        self._open()

    def resize(self, _size):
        raise SystemError("mmap: resizing not available--no mremap()")


def _read(descriptor, length, offset):
    """Returns a part of a file. The length 0 means up to the end of the file."""
    size = os.fstat(descriptor).st_size
    if length == 0:
        length = size - offset
        if length <= 0:
            raise ValueError("cannot mmap an empty file")
    elif offset + length > size:
        raise ValueError("mmap length is greater than file size")
    data = bytearray(length)
    at = 0
    while at < length:
        part = os.pread(descriptor, min(length - at, 1 << 20), offset + at)
        if not part:
            raise ValueError("mmap length is greater than file size")
        data[at : at + len(part)] = part
        at += len(part)
    return data
