"""Functions of `os` and `time` that the interpreter's own modules do not have in this guest."""

import os
import posix
import time

_OPEN_TERMINAL, _TERMINAL_NUMBER = 0x700, 0x709
_ROWS, _COLUMNS = 24, 80
_wall_time = time.process_time
# The place of the user time in /proc/self/stat after the name, and the ticks of a second.
_USER_TICKS, _TICKS = 11, 100


def sched_getaffinity(pid, /):
    """Returns the processors of a process. A process has one thread of control."""
    return {0}


def getloadavg():
    """Returns the load of the last 1, 5 and 15 minutes."""
    with open("/proc/loadavg") as report:
        return tuple(float(text) for text in report.read().split()[:3])


def times():
    """Returns the processor time of this process, and a clock, in seconds."""
    return posix.times_result((processor_time(), 0.0, 0.0, 0.0, time.monotonic()))


def processor_time():
    """Returns the processor time of this process in seconds. WASI's libc has only the monotonic clock."""
    try:
        with open("/proc/self/stat") as report:
            fields = report.read().rpartition(")")[2].split()
    except OSError:
        return _wall_time()
    return int(fields[_USER_TICKS]) / _TICKS


def processor_time_ns():
    """Returns the processor time of this process in nanoseconds. The clock ticks every 10 ms."""
    return int(processor_time() * _TICKS) * (1_000_000_000 // _TICKS)


def openpty():
    """Makes a terminal. Returns the descriptors of its master and its slave."""
    import _coldframe_calls as calls

    master = calls.sys(_OPEN_TERMINAL, _ROWS, _COLUMNS)
    return master, os.open(f"/dev/pts/{calls.sys(_TERMINAL_NUMBER, master)}", os.O_RDWR | os.O_NOCTTY)


def getgrouplist(user, group, /):
    """Returns the groups of a user."""
    import grp

    return [group] + [entry.gr_gid for entry in grp.getgrall() if user in entry.gr_mem and entry.gr_gid != group]


def install():
    """Adds the functions to `posix`, `os` and `time`."""
    time.process_time = time.thread_time = processor_time
    time.process_time_ns = time.thread_time_ns = processor_time_ns
    for function in (sched_getaffinity, getloadavg, times, openpty, getgrouplist):
        for module in (posix, os):
            setattr(module, function.__name__, function)
        if function.__name__ not in os.__all__:
            os.__all__.append(function.__name__)


install()
