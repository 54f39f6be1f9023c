/* The functions of Linux that WASI's libc does not have, for Modules/posixmodule.c. shim/files.c
   and shim/process.c define the functions. */
#ifndef COLDFRAME_POSIX_H
#define COLDFRAME_POSIX_H
#include <stddef.h>
#include <sys/types.h>

int chmod(const char *path, mode_t mode);
int fchmod(int fd, mode_t mode);
int fchmodat(int folder, const char *path, mode_t mode, int flags);
int chown(const char *path, uid_t uid, gid_t gid);
int lchown(const char *path, uid_t uid, gid_t gid);
int fchown(int fd, uid_t uid, gid_t gid);
int fchownat(int folder, const char *path, uid_t uid, gid_t gid, int flags);
mode_t umask(mode_t mask);
void sync(void);

int dup(int fd);
int dup2(int fd, int to);
int dup3(int fd, int to, int flags);
int pipe(int ends[2]);
int pipe2(int ends[2], int flags);
int lockf(int fd, int command, off_t length);

pid_t getppid(void);
pid_t getpgid(pid_t pid);
pid_t getpgrp(void);
int setpgid(pid_t pid, pid_t group);
pid_t getsid(pid_t pid);
pid_t setsid(void);
int kill(pid_t pid, int signal);
int killpg(pid_t group, int signal);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int getgroups(int size, gid_t list[]);
int setuid(uid_t uid);
int seteuid(uid_t uid);
int setgid(gid_t gid);
int setegid(gid_t gid);
int setgroups(size_t size, const gid_t list[]);

int ttyname_r(int fd, char *buffer, size_t size);
pid_t tcgetpgrp(int fd);
int tcsetpgrp(int fd, pid_t group);

#endif
