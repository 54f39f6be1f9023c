/* The timers of a process, which WASI's libc leaves out. shim/timer.c has the functions. */
#ifndef COLDFRAME_PYTHON_SYS_TIME_H
#define COLDFRAME_PYTHON_SYS_TIME_H
#include_next <sys/time.h>

#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF 2

struct itimerval {
    struct timeval it_interval;
    struct timeval it_value;
};

int getitimer(int which, struct itimerval *value);
int setitimer(int which, const struct itimerval *value, struct itimerval *before);

#endif
