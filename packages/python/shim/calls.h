/* The numbers of the kernel's calls that the shim uses (docs/internals/guest-abi.md). */
#ifndef COLDFRAME_PYTHON_CALLS_H
#define COLDFRAME_PYTHON_CALLS_H

enum {
    CF_SYS_OPEN = 0x100,
    CF_SYS_STAT = 0x104,
    CF_SYS_FSTAT = 0x105,
    CF_SYS_ACCESS = 0x106,
    CF_SYS_MKDIR = 0x107,
    CF_SYS_CHMOD = 0x110,
    CF_SYS_FCHMOD = 0x111,
    CF_SYS_CHOWN = 0x112,
    CF_SYS_FCHOWN = 0x113,
    CF_SYS_STATFS = 0x118,
    CF_SYS_CHDIR = 0x11a,
    CF_SYS_GETCWD = 0x11b,
    CF_SYS_UMASK = 0x121,
    CF_SYS_KIND = 0x124,
    CF_SYS_DUPLICATE = 0x125,
    CF_SYS_DUPLICATE_TO = 0x126,
    CF_SYS_STATUS_FLAGS = 0x127,
    CF_SYS_SET_STATUS_FLAGS = 0x128,
    CF_SYS_SET_ATTRIBUTE = 0x130,
    CF_SYS_ATTRIBUTE = 0x131,
    CF_SYS_ATTRIBUTE_NAMES = 0x132,
    CF_SYS_REMOVE_ATTRIBUTE = 0x133,
    CF_SYS_SOCKET = 0x200,
    CF_SYS_SOCKET_BIND = 0x202,
    CF_SYS_SOCKET_LISTEN = 0x203,
    CF_SYS_SOCKET_ACCEPT = 0x204,
    CF_SYS_SOCKET_CONNECT = 0x205,
    CF_SYS_SOCKET_READ = 0x206,
    CF_SYS_SOCKET_WRITE = 0x207,
    CF_SYS_SOCKET_SHUTDOWN = 0x208,
    CF_SYS_SOCKET_NAME = 0x209,
    CF_SYS_SOCKET_SEND = 0x20b,
    CF_SYS_SOCKET_RECEIVE = 0x20c,
    CF_SYS_SOCKET_ERROR = 0x20f,
    CF_SYS_SOCKET_PAIR = 0x210,
    CF_SYS_LOOK_UP = 0x213,
    CF_SYS_CANCEL_LOOK_UP = 0x215,
    CF_SYS_KILL = 0x402,
    CF_SYS_GETPPID = 0x403,
    CF_SYS_LISTEN_SIGNAL = 0x404,
    CF_SYS_GETPGID = 0x406,
    CF_SYS_SETPGID = 0x407,
    CF_SYS_WATCH = 0x408,
    CF_SYS_WAIT_FOR_WATCHED = 0x409,
    CF_SYS_SETSID = 0x40d,
    CF_SYS_GETSID = 0x40e,
    CF_SYS_TAKE_SIGNAL = 0x40f,
    CF_SYS_WAIT_FOR_OPERATION = 0x410,
    CF_SYS_TAKE_EVENT = 0x411,
    CF_SYS_GET_IDS = 0x420,
    CF_SYS_SET_ID = 0x421,
    CF_SYS_SET_GROUPS = 0x422,
    CF_SYS_TERMINAL_SIZE = 0x703,
    CF_SYS_TERMINAL_GROUP = 0x705,
    CF_SYS_SET_TERMINAL_GROUP = 0x706,
    CF_SYS_TERMINAL_NUMBER = 0x709,
};

/* Results of the kernel's call `kind`. */
enum {
    CF_KIND_UDP = 2,
};

/* The kernel's error numbers, which are Linux's. */
enum {
    CF_ENOENT = 2,
    CF_EINTR = 4,
    CF_EBADF = 9,
    CF_EAGAIN = 11,
    CF_ENOSYS = 38,
    CF_ENOTSOCK = 88,
    CF_EINPROGRESS = 115,
};

/* The descriptors that stand for the two places where a path begins. The kernel's own descriptors
   never have these numbers. */
enum {
    CF_ROOT = 0x7fff0000,
    CF_WORKING_DIRECTORY = 0x7fff0001,
};

#endif
