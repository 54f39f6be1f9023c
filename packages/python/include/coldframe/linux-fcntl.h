/* Replaces the flags of WASI's `open` by the flags of Linux on x86-64, for the units that show
   flags to programs. shim/files.c accepts both. */
#ifndef COLDFRAME_LINUX_FCNTL_H
#define COLDFRAME_LINUX_FCNTL_H
#include <fcntl.h>

#undef O_RDONLY
#undef O_WRONLY
#undef O_RDWR
#undef O_ACCMODE
#undef O_CREAT
#undef O_EXCL
#undef O_NOCTTY
#undef O_TRUNC
#undef O_APPEND
#undef O_NONBLOCK
#undef O_NDELAY
#undef O_DSYNC
#undef O_SYNC
#undef O_RSYNC
#undef O_DIRECTORY
#undef O_NOFOLLOW
#undef O_CLOEXEC
#undef O_EXEC
#undef O_SEARCH

#define O_RDONLY 0
#define O_WRONLY 01
#define O_RDWR 02
#define O_ACCMODE 03
#define O_CREAT 0100
#define O_EXCL 0200
#define O_NOCTTY 0400
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_NDELAY O_NONBLOCK
#define O_DSYNC 010000
#define O_ASYNC 020000
#define O_DIRECT 040000
#define O_LARGEFILE 0
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_NOATIME 01000000
#define O_CLOEXEC 02000000
#define O_SYNC 04010000
#define O_RSYNC O_SYNC
#define O_PATH 010000000
#define O_TMPFILE 020200000

#endif
