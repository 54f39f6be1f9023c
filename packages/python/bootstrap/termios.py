"""The module `termios` over the calls of the kernel for terminals."""

import struct

import _coldframe_calls as calls

_GET, _SET, _GET_SIZE, _SET_SIZE, _FLUSH = 0x701, 0x702, 0x703, 0x704, 0x70A
_KIND = 0x124
_TERMINAL = 1
_ENOTTY = 25
_FORM = struct.Struct("<4IB19s")
_SPEED = 0o17

TCSANOW, TCSADRAIN, TCSAFLUSH = range(3)
TCIFLUSH, TCOFLUSH, TCIOFLUSH = range(3)
TCOOFF, TCOON, TCIOFF, TCION = range(4)

IGNBRK, BRKINT, IGNPAR, PARMRK, INPCK, ISTRIP, INLCR, IGNCR, ICRNL, IUCLC, IXON, IXANY, IXOFF, IMAXBEL = (
    1 << bit for bit in range(14)
)
OPOST, OLCUC, ONLCR, OCRNL, ONOCR, ONLRET, OFILL, OFDEL = (1 << bit for bit in range(8))
NL0, NL1, CR0, TAB0, TAB3, BS0, VT0, FF0 = 0, 0o400, 0, 0, 0o14000, 0, 0, 0
NLDLY, CRDLY, TABDLY, BSDLY, VTDLY, FFDLY = 0o400, 0o3000, 0o14000, 0o20000, 0o40000, 0o100000
CSIZE, CS5, CS6, CS7, CS8 = 0o60, 0, 0o20, 0o40, 0o60
CSTOPB, CREAD, PARENB, PARODD, HUPCL, CLOCAL = 0o100, 0o200, 0o400, 0o1000, 0o2000, 0o4000
CRTSCTS = 0o20000000000
ISIG, ICANON, XCASE, ECHO, ECHOE, ECHOK, ECHONL, NOFLSH, TOSTOP, ECHOCTL, ECHOPRT, ECHOKE, FLUSHO = (
    1 << bit for bit in range(13)
)
PENDIN, IEXTEN = 0o40000, 0o100000
VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VSWTC, VSTART, VSTOP, VSUSP, VEOL, VREPRINT, VDISCARD, VWERASE, VLNEXT, VEOL2 = (
    range(17)
)
NCCS = 32
_VISIBLE = 19
B0, B50, B75, B110, B134, B150, B200, B300, B600, B1200, B1800, B2400, B4800, B9600, B19200, B38400 = range(16)
B57600, B115200, B230400 = 0o10001, 0o10002, 0o10003
TCGETS, TCSETS, TCSETSW, TCSETSF = 0x5401, 0x5402, 0x5403, 0x5404
TIOCSCTTY, TIOCGPGRP, TIOCSPGRP, TIOCGWINSZ, TIOCSWINSZ = 0x540E, 0x540F, 0x5410, 0x5413, 0x5414
TIOCNOTTY, FIONREAD, TIOCINQ, FIONBIO = 0x5422, 0x541B, 0x541B, 0x5421


class error(Exception):
    """A failed call. The arguments are an error number and a text."""


error.__module__ = "termios"


def tcgetattr(fd, /):
    """Returns [iflag, oflag, cflag, lflag, ispeed, ospeed, cc]."""
    *flags, _, characters = _FORM.unpack(_attributes(fd))
    cc = [characters[at : at + 1] for at in range(_VISIBLE)] + [b"\0"] * (NCCS - _VISIBLE)
    if not flags[3] & ICANON:
        cc[VMIN], cc[VTIME] = characters[VMIN], characters[VTIME]
    speed = flags[2] & _SPEED
    return [*flags, speed, speed, cc]


def tcsetattr(fd, when, attributes, /):
    """Sets the attributes of a terminal."""
    if not isinstance(attributes, list) or len(attributes) != 7:
        raise TypeError("tcsetattr, arg 3: must be 7 element list")
    cc = attributes[6]
    if not isinstance(cc, list) or len(cc) != NCCS:
        raise TypeError(f"tcsetattr: attributes[6] must be {NCCS} element list")
    characters = bytes(value if isinstance(value, int) else value[0] for value in cc[:_VISIBLE])
    discipline = _FORM.unpack(_attributes(fd))[4]
    _call(_SET, fd, when, _FORM.pack(*attributes[:4], discipline, characters))


def tcgetwinsize(fd, /):
    """Returns the rows and the columns of a terminal."""
    size = bytearray(8)
    _call(_GET_SIZE, fd, size)
    return struct.unpack_from("HH", size)


def tcsetwinsize(fd, winsize, /):
    """Sets the rows and the columns of a terminal."""
    rows, columns = winsize
    _call(_SET_SIZE, fd, rows, columns)


def tcflush(fd, queue, /):
    """Drops the bytes of a queue."""
    _call(_FLUSH, fd, queue)


def tcdrain(fd, /):
    """Returns at once, because no output waits in the kernel."""
    _check(fd)


def tcflow(fd, action, /):
    """Has no effect."""
    _check(fd)


def tcsendbreak(fd, duration, /):
    """Has no effect."""
    _check(fd)


def _attributes(fd):
    buffer = bytearray(_FORM.size)
    _call(_GET, fd, buffer)
    return buffer


def _check(fd):
    if calls.sys(_KIND, _number(fd)) != _TERMINAL:
        raise error(_ENOTTY, "Inappropriate ioctl for device")


def _call(number, fd, *arguments):
    try:
        return calls.sys(number, _number(fd), *arguments)
    except OSError as failure:
        raise error(failure.errno, failure.strerror) from None


def _number(fd):
    return fd if isinstance(fd, int) else fd.fileno()
