/* The functions of Linux for processes, users and groups, over the calls of the kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "calls.h"
#include "include/coldframe/posix.h"
#include "shim.h"

enum { USER = 1000, MAX_IDS = 22, SUPPLEMENTARY = 6, LINUX_ENOSYS = 38, NAME_LENGTH = 64 };
enum { REAL_USER, EFFECTIVE_USER, SAVED_USER, REAL_GROUP, EFFECTIVE_GROUP, SAVED_GROUP };
enum { SET_USER, SET_EFFECTIVE_USER, SET_GROUP, SET_EFFECTIVE_GROUP };

static struct {
    int32_t pid, ppid;
} process = { .pid = 1 };

void cf_set_process(int32_t pid, int32_t ppid)
{
    process.pid = pid;
    process.ppid = ppid;
}

static int64_t call(int32_t number, int64_t a, int64_t b)
{
    return host_sys(number, a, b, 0, 0, 0, 0, 0, 0);
}

pid_t __wrap_getpid(void)
{
    return process.pid;
}

pid_t getppid(void)
{
    int64_t ppid = call(CF_SYS_GETPPID, 0, 0);
    return ppid < 0 ? process.ppid : (pid_t)ppid;
}

pid_t getpgid(pid_t pid)
{
    return cf_result(call(CF_SYS_GETPGID, pid, 0));
}

pid_t getpgrp(void)
{
    return getpgid(0);
}

int setpgid(pid_t pid, pid_t group)
{
    return cf_result(call(CF_SYS_SETPGID, pid, group));
}

pid_t getsid(pid_t pid)
{
    return cf_result(call(CF_SYS_GETSID, pid, 0));
}

pid_t setsid(void)
{
    return cf_result(call(CF_SYS_SETSID, 0, 0));
}

int kill(pid_t pid, int signal)
{
    return cf_result(call(CF_SYS_KILL, pid, signal));
}

int killpg(pid_t group, int signal)
{
    if (group > 1)
        return kill(-group, signal);
    errno = group < 0 ? EINVAL : EPERM;
    return group == 0 ? kill(0, signal) : -1;
}

/* Writes the ids of the process. Returns their number. */
static int get_ids(uint32_t ids[MAX_IDS])
{
    int64_t count = call(CF_SYS_GET_IDS, (intptr_t)ids, MAX_IDS * sizeof(*ids));

    if (count >= SUPPLEMENTARY)
        return (int)count;
    for (int i = 0; i < SUPPLEMENTARY; i++)
        ids[i] = USER;
    return SUPPLEMENTARY;
}

static uint32_t get_id(int which)
{
    uint32_t ids[MAX_IDS];
    get_ids(ids);
    return ids[which];
}

uid_t getuid(void)
{
    return get_id(REAL_USER);
}

uid_t geteuid(void)
{
    return get_id(EFFECTIVE_USER);
}

gid_t getgid(void)
{
    return get_id(REAL_GROUP);
}

gid_t getegid(void)
{
    return get_id(EFFECTIVE_GROUP);
}

int getgroups(int size, gid_t list[])
{
    uint32_t ids[MAX_IDS];
    int count = get_ids(ids) - SUPPLEMENTARY;

    if (size == 0)
        return count;
    if (size < count) {
        errno = EINVAL;
        return -1;
    }
    memcpy(list, ids + SUPPLEMENTARY, count * sizeof(*list));
    return count;
}

static int set_id(int which, uint32_t id)
{
    return cf_result(call(CF_SYS_SET_ID, which, id));
}

int setuid(uid_t uid)
{
    return set_id(SET_USER, uid);
}

int seteuid(uid_t uid)
{
    return set_id(SET_EFFECTIVE_USER, uid);
}

int setgid(gid_t gid)
{
    return set_id(SET_GROUP, gid);
}

int setegid(gid_t gid)
{
    return set_id(SET_EFFECTIVE_GROUP, gid);
}

int setgroups(size_t size, const gid_t list[])
{
    return cf_result(call(CF_SYS_SET_GROUPS, (intptr_t)list, size * sizeof(*list)));
}

/* The kernel's names are the names of /proc/sys/kernel. The machine is the guest's own. */
int __wrap_uname(struct utsname *names)
{
    *names = (struct utsname){
        .sysname = "Linux",
        .nodename = "coldframe",
        .release = "6.1.0",
        .version = "#1 SMP",
        .machine = "wasm32",
    };
    return 0;
}
