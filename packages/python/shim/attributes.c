/* Linux's functions for the user attributes of files, over the calls of the kernel. The calls take
   paths, so a descriptor is given as its path in /proc. Next: files.c. */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "include/coldframe/sys/xattr.h"
#include "shim.h"

enum { PATH_LENGTH = sizeof("/proc/self/fd/-2147483648") };

static const char *path_of(int fd, char buffer[PATH_LENGTH])
{
    snprintf(buffer, PATH_LENGTH, "/proc/self/fd/%d", fd);
    return buffer;
}

static ssize_t get_attribute(const char *path, const char *name, void *value, size_t size, bool follows)
{
    return cf_result(host_sys(CF_SYS_ATTRIBUTE, (intptr_t)path, strlen(path), (intptr_t)name, strlen(name), (intptr_t)value,
                              size, follows, 0));
}

static int set_attribute(const char *path, const char *name, const void *value, size_t size, int flags, bool follows)
{
    return cf_result(host_sys(CF_SYS_SET_ATTRIBUTE, (intptr_t)path, strlen(path), (intptr_t)name, strlen(name), (intptr_t)value,
                              size, flags, follows));
}

static int remove_attribute(const char *path, const char *name, bool follows)
{
    return cf_result(
        host_sys(CF_SYS_REMOVE_ATTRIBUTE, (intptr_t)path, strlen(path), (intptr_t)name, strlen(name), follows, 0, 0, 0));
}

static ssize_t list_attributes(const char *path, char *names, size_t size, bool follows)
{
    return cf_result(
        host_sys(CF_SYS_ATTRIBUTE_NAMES, (intptr_t)path, strlen(path), (intptr_t)names, size, follows, 0, 0, 0));
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    return get_attribute(path, name, value, size, true);
}

ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    return get_attribute(path, name, value, size, false);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    char buffer[PATH_LENGTH];
    return get_attribute(path_of(fd, buffer), name, value, size, true);
}

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags)
{
    return set_attribute(path, name, value, size, flags, true);
}

int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags)
{
    return set_attribute(path, name, value, size, flags, false);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    char buffer[PATH_LENGTH];
    return set_attribute(path_of(fd, buffer), name, value, size, flags, true);
}

int removexattr(const char *path, const char *name)
{
    return remove_attribute(path, name, true);
}

int lremovexattr(const char *path, const char *name)
{
    return remove_attribute(path, name, false);
}

int fremovexattr(int fd, const char *name)
{
    char buffer[PATH_LENGTH];
    return remove_attribute(path_of(fd, buffer), name, true);
}

ssize_t listxattr(const char *path, char *names, size_t size)
{
    return list_attributes(path, names, size, true);
}

ssize_t llistxattr(const char *path, char *names, size_t size)
{
    return list_attributes(path, names, size, false);
}

ssize_t flistxattr(int fd, char *names, size_t size)
{
    char buffer[PATH_LENGTH];
    return list_attributes(path_of(fd, buffer), names, size, true);
}
