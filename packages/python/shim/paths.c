/* Replaces the part of WASI's libc that resolves paths.

   The libc emulates absolute paths and a working directory over preopened descriptors. It looks for
   these from descriptor 3 upwards, where the kernel's own descriptors begin. It also keeps the
   working directory, which the kernel then does not know. The functions below have the names of the
   libc's functions, so the linker takes these. An absolute path begins at CF_ROOT, and any other
   path at CF_WORKING_DIRECTORY. The kernel keeps the working directory. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "shim.h"

enum { PATH_LENGTH = 4096 };

static int begin_of(const char *path, const char **rest)
{
    if (*path != '/') {
        *rest = *path ? path : ".";
        return CF_WORKING_DIRECTORY;
    }
    while (*path == '/')
        path++;
    *rest = *path ? path : ".";
    return CF_ROOT;
}

/* libc: finds the descriptor of a preopened folder, and the rest of the path below the folder. */
int __wasilibc_find_relpath_alloc(const char *path, const char **root, char **rest, size_t *length, int can_grow)
{
    *root = "/";
    return begin_of(path, (const char **)rest);
}

int __wasilibc_find_relpath(const char *path, const char **root, char **rest, size_t length)
{
    *root = "/";
    return begin_of(path, (const char **)rest);
}

int __wasilibc_find_abspath(const char *path, const char **root, const char **rest)
{
    *root = "/";
    return begin_of(path, rest);
}

int __wasilibc_register_preopened_fd(int fd, const char *path)
{
    errno = ENOTSUP;
    return -1;
}

void __wasilibc_populate_preopens(void) {}
void __wasilibc_reset_preopens(void) {}

int chdir(const char *path)
{
    int64_t result = host_sys(CF_SYS_CHDIR, (intptr_t)path, strlen(path), 0, 0, 0, 0, 0, 0);
    if (result >= 0)
        return 0;
    errno = cf_errno(-result);
    return -1;
}

char *getcwd(char *buffer, size_t size)
{
    char path[PATH_LENGTH] = "/";
    int64_t length = host_sys(CF_SYS_GETCWD, (intptr_t)path, PATH_LENGTH - 1, 0, 0, 0, 0, 0, 0);

    /* The image build has no kernel: the working directory is the root. */
    if (length == -38)
        length = 1;
    if (length < 0) {
        errno = cf_errno(-length);
        return NULL;
    }
    path[length] = '\0';
    if (!buffer)
        return strdup(path);
    if ((size_t)length >= size) {
        errno = ERANGE;
        return NULL;
    }
    return memcpy(buffer, path, length + 1);
}
