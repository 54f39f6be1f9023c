/* The attributes of files, for Modules/posixmodule.c. shim/files.c defines the functions. */
#ifndef COLDFRAME_SYS_XATTR_H
#define COLDFRAME_SYS_XATTR_H
#include <stddef.h>
#include <sys/types.h>

ssize_t getxattr(const char *path, const char *name, void *value, size_t size);
ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size);
ssize_t fgetxattr(int fd, const char *name, void *value, size_t size);
int setxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
int removexattr(const char *path, const char *name);
int lremovexattr(const char *path, const char *name);
int fremovexattr(int fd, const char *name);
ssize_t listxattr(const char *path, char *names, size_t size);
ssize_t llistxattr(const char *path, char *names, size_t size);
ssize_t flistxattr(int fd, char *names, size_t size);

#define XATTR_CREATE 1
#define XATTR_REPLACE 2
#define XATTR_SIZE_MAX 65536
#define XATTR_LIST_MAX 65536

#endif
