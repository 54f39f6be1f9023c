"""The module `resource`: the usage of this process, and limits that the kernel does not have."""

from _coldframe import named_tuples as tuples
from _coldframe import system

RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD = 0, -1, 1
RLIM_INFINITY = -1
(
    RLIMIT_CPU,
    RLIMIT_FSIZE,
    RLIMIT_DATA,
    RLIMIT_STACK,
    RLIMIT_CORE,
    RLIMIT_RSS,
    RLIMIT_NPROC,
    RLIMIT_NOFILE,
    RLIMIT_MEMLOCK,
    RLIMIT_AS,
) = range(10)
error = OSError

_PAGE = 65536
_LIMITS = 16
_DESCRIPTORS = 1024

struct_rusage = tuples.make(
    "resource.struct_rusage",
    "ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap ru_inblock ru_oublock "
    "ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw",
)


def getrusage(who, /):
    """Returns the processor time and the memory of this process. The other numbers are 0."""
    if who not in (RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD):
        raise ValueError("invalid who parameter")
    seconds = system.processor_time() if who != RUSAGE_CHILDREN else 0.0
    return struct_rusage((seconds, 0.0, _resident_kib(), *[0] * 13))


def getrlimit(resource, /):
    """Returns the soft and the hard limit."""
    _check(resource)
    return (_DESCRIPTORS, _DESCRIPTORS) if resource == RLIMIT_NOFILE else (RLIM_INFINITY, RLIM_INFINITY)


def setrlimit(resource, limits, /):
    """Accepts limits, which have no effect. The runtime has limits of its own."""
    _check(resource)
    soft, hard = limits
    if hard != RLIM_INFINITY and (soft == RLIM_INFINITY or soft > hard):
        raise ValueError("current limit exceeds maximum limit")


def getpagesize():
    """Returns the size of a page of memory."""
    return _PAGE


def _check(resource):
    if not 0 <= resource < _LIMITS:
        raise ValueError("invalid resource specified")


def _resident_kib():
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith(("VmHWM:", "VmRSS:")):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0
