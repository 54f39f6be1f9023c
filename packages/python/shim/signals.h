/* Signals and the timer of the process. Next: signals.c, timer.c. */
#ifndef COLDFRAME_PYTHON_SIGNALS_H
#define COLDFRAME_PYTHON_SIGNALS_H
#include <signal.h>
#include <stdint.h>

#include "calls.h"

/* signals.c: calls the handler of a signal, or sends the signal to this process. */
void cf_signal_self(int number);

/* timer.c: sends SIGALRM if the time of the timer has passed. */
void cf_check_timer(void);
/* timer.c: the waits of the host, which also end at the time of the timer with EINTR. */
int32_t cf_wait_readable(int32_t fd);
int32_t cf_wait_writable(int32_t fd);
/* timer.c: returns the shorter of a limit in nanoseconds and the time until the timer. */
int64_t cf_wait_limit(int64_t limit);

#endif
