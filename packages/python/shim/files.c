/* The functions of Linux for files, over the calls of the kernel.

   WASI's calls have no modes, owners and inode numbers of Linux. The linker replaces libc's
   functions by the functions with the prefix `__wrap_` (`REPLACED` in build/flags.mjs). The image
   build and the dev host have no kernel. There a call fails with ENOSYS, and libc's own function is
   called. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "calls.h"
#include "include/coldframe/posix.h"
#include "include/coldframe/terminal.h"
#include "shim.h"

enum {
    PATH_LENGTH = 4096,
    LINUX_ENOSYS = 38,
    TERMINAL = 1,
    STAT_NUMBERS = 18,
    STATFS_NUMBERS = 7,
    LONGEST_NAME = 255,
};

/* The flags of Linux's `open`. */
enum {
    LINUX_WRONLY = 01,
    LINUX_RDWR = 02,
    LINUX_CREAT = 0100,
    LINUX_EXCL = 0200,
    LINUX_TRUNC = 01000,
    LINUX_APPEND = 02000,
    LINUX_NONBLOCK = 04000,
    LINUX_DSYNC = 010000,
    LINUX_DIRECTORY = 0200000,
    LINUX_NOFOLLOW = 0400000,
    LINUX_CLOEXEC = 02000000,
    LINUX_SYNC = 04010000,
    LINUX_TMPFILE = 020000000,
};

static int64_t call(int32_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e)
{
    return host_sys(number, a, b, c, d, e, 0, 0, 0);
}

/* Calls the kernel with a path as the first two arguments. */
static int64_t call_path(int32_t number, const char *path, int64_t c, int64_t d, int64_t e)
{
    return call(number, (intptr_t)path, strlen(path), c, d, e);
}

/* Returns a path from the working directory, for a path from an open folder. */
static const char *path_from(int folder, const char *path, char buffer[PATH_LENGTH])
{
    if (*path == '/' || folder == AT_FDCWD)
        return path;
    if (snprintf(buffer, PATH_LENGTH, "/proc/self/fd/%d/%s", folder, path) < PATH_LENGTH)
        return buffer;
    errno = ENAMETOOLONG;
    return NULL;
}

static const char *path_of(int fd, char buffer[PATH_LENGTH])
{
    snprintf(buffer, PATH_LENGTH, "/proc/self/fd/%d", fd);
    return buffer;
}

/* Replaces the flags of WASI by the flags of Linux. Flags of WASI always have an access mode, which
   is none of the flags of Linux. */
static int linux_flags(int flags)
{
    static const struct {
        int wasi, linux;
    } pairs[] = {
        { O_CREAT, LINUX_CREAT },         { O_EXCL, LINUX_EXCL },           { O_TRUNC, LINUX_TRUNC },
        { O_APPEND, LINUX_APPEND },       { O_NONBLOCK, LINUX_NONBLOCK },   { O_DSYNC, LINUX_DSYNC },
        { O_DIRECTORY, LINUX_DIRECTORY }, { O_NOFOLLOW, LINUX_NOFOLLOW },   { O_SYNC, LINUX_SYNC },
    };

    if (!(flags & O_ACCMODE))
        return flags;
    int result = (flags & O_RDWR) == O_RDWR ? LINUX_RDWR : (flags & O_WRONLY) ? LINUX_WRONLY : 0;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(pairs); i++)
        if (flags & pairs[i].wasi)
            result |= pairs[i].linux;
    return result;
}

/* The flags of WASI for libc's own function, where the kernel is missing. */
static int wasi_flags(int flags)
{
    if (flags & O_ACCMODE)
        return flags;
    int result = (flags & LINUX_RDWR) ? O_RDWR : (flags & LINUX_WRONLY) ? O_WRONLY : O_RDONLY;
    if (flags & LINUX_CREAT)
        result |= O_CREAT;
    if (flags & LINUX_EXCL)
        result |= O_EXCL;
    if (flags & LINUX_TRUNC)
        result |= O_TRUNC;
    if (flags & LINUX_APPEND)
        result |= O_APPEND;
    if (flags & LINUX_DIRECTORY)
        result |= O_DIRECTORY;
    return result;
}

/* libc's functions call each other by names that the linker has replaced. While one of them runs,
   the replaced functions call libc's own. */
static bool in_libc;

#define IN_LIBC(expression) \
    __extension__({ \
        in_libc = true; \
        int libc_result = (expression); \
        in_libc = false; \
        libc_result; \
    })

int __real_open(const char *path, int flags, ...);
int __real_openat(int folder, const char *path, int flags, ...);
int __real_fstatat(int folder, const char *path, struct stat *stat, int flags);
int __real_mkdirat(int folder, const char *path, mode_t mode);
int __real_faccessat(int folder, const char *path, int mode, int flags);

static int open_path(const char *path, int flags, mode_t mode)
{
    int64_t fd = call_path(CF_SYS_OPEN, path, linux_flags(flags), mode, 0);

    return fd == -LINUX_ENOSYS ? IN_LIBC(__real_open(path, wasi_flags(flags))) : cf_result(fd);
}

/* Returns whether a mode follows the flags of `open`. */
static bool has_mode(int flags)
{
    return linux_flags(flags) & (LINUX_CREAT | LINUX_TMPFILE);
}

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    if (has_mode(flags)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return open_path(path, flags, mode);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
    char buffer[PATH_LENGTH];
    mode_t mode = 0;

    if (in_libc)
        return __real_openat(folder, path, flags);
    if (has_mode(flags)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    const char *full = path_from(folder, path, buffer);
    int64_t fd = full ? call_path(CF_SYS_OPEN, full, linux_flags(flags), mode, 0) : -1;
    if (fd == -LINUX_ENOSYS)
        return IN_LIBC(__real_openat(folder, path, wasi_flags(flags)));
    return full ? cf_result(fd) : -1;
}

static struct timespec time_of(const double *numbers)
{
    return (struct timespec){ .tv_sec = (time_t)numbers[0], .tv_nsec = (long)numbers[1] };
}

/* Fills a `struct stat` with the kernel's numbers. */
static int fill(int64_t result, const double numbers[STAT_NUMBERS], struct stat *stat)
{
    if (result < 0)
        return (int)cf_result(result);
    *stat = (struct stat){
        .st_dev = (dev_t)numbers[0],
        .st_mode = (mode_t)numbers[1],
        .st_nlink = (nlink_t)numbers[2],
        .st_uid = (uid_t)numbers[3],
        .st_gid = (gid_t)numbers[4],
        .st_rdev = (dev_t)numbers[5],
        .st_blksize = (blksize_t)numbers[6],
        .st_ino = (ino_t)numbers[7],
        .st_size = (off_t)numbers[8],
        .st_blocks = (blkcnt_t)numbers[9],
        .st_atim = time_of(numbers + 10),
        .st_mtim = time_of(numbers + 12),
        .st_ctim = time_of(numbers + 14),
    };
    return 0;
}

int __real_stat(const char *path, struct stat *stat);
int __real_lstat(const char *path, struct stat *stat);
int __real_fstat(int fd, struct stat *stat);

static int stat_path(const char *path, struct stat *stat, bool follows)
{
    double numbers[STAT_NUMBERS];
    int64_t result = call_path(CF_SYS_STAT, path, (intptr_t)numbers, sizeof(numbers), follows);

    if (result == -LINUX_ENOSYS)
        return IN_LIBC(follows ? __real_stat(path, stat) : __real_lstat(path, stat));
    return fill(result, numbers, stat);
}

int __wrap_stat(const char *path, struct stat *stat)
{
    return stat_path(path, stat, true);
}

int __wrap_lstat(const char *path, struct stat *stat)
{
    return stat_path(path, stat, false);
}

int __wrap_fstat(int fd, struct stat *stat)
{
    double numbers[STAT_NUMBERS];
    int64_t result = call(CF_SYS_FSTAT, fd, (intptr_t)numbers, sizeof(numbers), 0, 0);

    return result == -LINUX_ENOSYS ? IN_LIBC(__real_fstat(fd, stat)) : fill(result, numbers, stat);
}

int __wrap_fstatat(int folder, const char *path, struct stat *stat, int flags)
{
    char buffer[PATH_LENGTH];
    double numbers[STAT_NUMBERS];

    if (in_libc)
        return __real_fstatat(folder, path, stat, flags);
    const char *full = path_from(folder, path, buffer);
    if (!full)
        return -1;
    int64_t result = call_path(CF_SYS_STAT, full, (intptr_t)numbers, sizeof(numbers), !(flags & AT_SYMLINK_NOFOLLOW));
    if (result == -LINUX_ENOSYS)
        return IN_LIBC(__real_fstatat(folder, path, stat, flags));
    return fill(result, numbers, stat);
}

int __real_mkdir(const char *path, mode_t mode);

int __wrap_mkdir(const char *path, mode_t mode)
{
    int64_t result = call_path(CF_SYS_MKDIR, path, mode, 0, 0);

    return result == -LINUX_ENOSYS ? IN_LIBC(__real_mkdir(path, mode)) : cf_result(result);
}

int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
    char buffer[PATH_LENGTH];

    if (in_libc)
        return __real_mkdirat(folder, path, mode);
    const char *full = path_from(folder, path, buffer);
    int64_t result = full ? call_path(CF_SYS_MKDIR, full, mode, 0, 0) : -1;
    if (result == -LINUX_ENOSYS)
        return IN_LIBC(__real_mkdirat(folder, path, mode));
    return full ? cf_result(result) : -1;
}

int __real_access(const char *path, int mode);

int __wrap_access(const char *path, int mode)
{
    int64_t result = call_path(CF_SYS_ACCESS, path, mode, 0, 0);

    return result == -LINUX_ENOSYS ? IN_LIBC(__real_access(path, mode)) : cf_result(result);
}

int __wrap_faccessat(int folder, const char *path, int mode, int flags)
{
    char buffer[PATH_LENGTH];

    if (in_libc)
        return __real_faccessat(folder, path, mode, flags);
    const char *full = path_from(folder, path, buffer);
    int64_t result = full ? call_path(CF_SYS_ACCESS, full, mode, 0, 0) : -1;
    if (result == -LINUX_ENOSYS)
        return IN_LIBC(__real_faccessat(folder, path, mode, flags));
    return full ? cf_result(result) : -1;
}

int __real_isatty(int fd);

int __wrap_isatty(int fd)
{
    int64_t kind = call(CF_SYS_KIND, fd, 0, 0, 0, 0);

    if (kind == -LINUX_ENOSYS)
        return __real_isatty(fd);
    if (kind == TERMINAL)
        return 1;
    errno = kind == 6 ? EBADF : ENOTTY;
    return 0;
}

int __wrap_chmod(const char *path, mode_t mode)
{
    return cf_result(call_path(CF_SYS_CHMOD, path, mode, true, 0));
}

int __wrap_fchmod(int fd, mode_t mode)
{
    return cf_result(call(CF_SYS_FCHMOD, fd, mode, 0, 0, 0));
}

int __wrap_fchmodat(int folder, const char *path, mode_t mode, int flags)
{
    char buffer[PATH_LENGTH];

    path = path_from(folder, path, buffer);
    return path ? cf_result(call_path(CF_SYS_CHMOD, path, mode, !(flags & AT_SYMLINK_NOFOLLOW), 0)) : -1;
}

/* An id of -1 leaves the owner or the group unchanged. */
static int64_t id_of(uint32_t id)
{
    return id == UINT32_MAX ? -1 : (int64_t)id;
}

static int chown_path(const char *path, uid_t uid, gid_t gid, bool follows)
{
    return cf_result(call_path(CF_SYS_CHOWN, path, id_of(uid), id_of(gid), follows));
}

int chown(const char *path, uid_t uid, gid_t gid)
{
    return chown_path(path, uid, gid, true);
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
    return chown_path(path, uid, gid, false);
}

int fchown(int fd, uid_t uid, gid_t gid)
{
    return cf_result(call(CF_SYS_FCHOWN, fd, id_of(uid), id_of(gid), 0, 0));
}

int fchownat(int folder, const char *path, uid_t uid, gid_t gid, int flags)
{
    char buffer[PATH_LENGTH];

    path = path_from(folder, path, buffer);
    return path ? chown_path(path, uid, gid, !(flags & AT_SYMLINK_NOFOLLOW)) : -1;
}

mode_t umask(mode_t mask)
{
    int64_t old = call(CF_SYS_UMASK, mask, 0, 0, 0, 0);
    return old < 0 ? 022 : (mode_t)old;
}

/* Files are stored in memory. */
void sync(void) {}

int __wrap_statvfs(const char *path, struct statvfs *out)
{
    double numbers[STATFS_NUMBERS];
    int64_t result = call_path(CF_SYS_STATFS, path, (intptr_t)numbers, sizeof(numbers), 0);

    if (result < 0)
        return cf_result(result);
    *out = (struct statvfs){
        .f_bsize = (unsigned long)numbers[1],
        .f_frsize = (unsigned long)numbers[1],
        .f_blocks = (fsblkcnt_t)numbers[2],
        .f_bfree = (fsblkcnt_t)numbers[3],
        .f_bavail = (fsblkcnt_t)numbers[4],
        .f_files = (fsfilcnt_t)numbers[5],
        .f_ffree = (fsfilcnt_t)numbers[6],
        .f_favail = (fsfilcnt_t)numbers[6],
        .f_namemax = LONGEST_NAME,
    };
    return 0;
}

int __wrap_fstatvfs(int fd, struct statvfs *out)
{
    char buffer[PATH_LENGTH];
    return statvfs(path_of(fd, buffer), out);
}

int dup(int fd)
{
    return cf_result(call(CF_SYS_DUPLICATE, fd, 0, 0, 0, 0));
}

int __wrap_dup2(int fd, int to)
{
    return cf_result(call(CF_SYS_DUPLICATE_TO, fd, to, 0, 0, 0));
}

int dup3(int fd, int to, int flags)
{
    if (fd != to)
        return dup2(fd, to);
    errno = EINVAL;
    return -1;
}

int pipe2(int ends[2], int flags)
{
    uint32_t made[2];

    if (cf_result(call(CF_SYS_SOCKET_PAIR, (intptr_t)made, sizeof(made), 0, 0, 0)) < 0)
        return -1;
    ends[0] = (int)made[0];
    ends[1] = (int)made[1];
    if (linux_flags(flags) & LINUX_NONBLOCK)
        for (int i = 0; i < 2; i++)
            call(CF_SYS_SET_STATUS_FLAGS, ends[i], LINUX_NONBLOCK, 0, 0, 0);
    return 0;
}

int pipe(int ends[2])
{
    return pipe2(ends, 0);
}

/* No lock of a file exists, so no other process holds one. */
int lockf(int fd, int command, off_t length)
{
    return 0;
}

int ttyname_r(int fd, char *buffer, size_t size)
{
    int64_t number = call(CF_SYS_TERMINAL_NUMBER, fd, 0, 0, 0, 0);

    if (number < 0)
        return cf_errno(-number);
    return snprintf(buffer, size, "/dev/pts/%d", (int)number) < (int)size ? 0 : ERANGE;
}

int cf_window_size(int fd, struct winsize *size)
{
    return cf_result(call(CF_SYS_TERMINAL_SIZE, fd, (intptr_t)size, sizeof(*size), 0, 0));
}

pid_t tcgetpgrp(int fd)
{
    return cf_result(call(CF_SYS_TERMINAL_GROUP, fd, 0, 0, 0, 0));
}

int tcsetpgrp(int fd, pid_t group)
{
    return cf_result(call(CF_SYS_SET_TERMINAL_GROUP, fd, group, 0, 0, 0));
}
