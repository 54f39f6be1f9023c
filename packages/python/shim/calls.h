/* The numbers of the kernel's calls that the shim uses (docs/internals/guest-abi.md). */
#ifndef COLDFRAME_PYTHON_CALLS_H
#define COLDFRAME_PYTHON_CALLS_H

enum {
    CF_SYS_CHDIR = 0x11a,
    CF_SYS_GETCWD = 0x11b,
};

/* The descriptors that stand for the two places where a path begins. The kernel's own descriptors
   never have these numbers. */
enum {
    CF_ROOT = 0x7fff0000,
    CF_WORKING_DIRECTORY = 0x7fff0001,
};

#endif
