/* Waits for another thread, which the process does not have (patches/0005-locks.patch). */
#include "shim.h"

#include <errno.h>
#include <time.h>

enum { NANOSECONDS = 1000000000, LONGEST_SECONDS = 3600 };

static const char message[] =
    "this wait would never end, because the process has one thread: use asyncio for work that waits, "
    "or subprocess for work at the same time";

/* Sleeps for `timeout` nanoseconds, or with a negative timeout until a signal has arrived.
   Returns 0 after the time. Returns 1 if the caller must check signals and repeat the call, or
   if an error is set. */
int cf_park(PyTime_t timeout)
{
    struct timespec span = { .tv_sec = LONGEST_SECONDS };

    if (timeout < 0 && !cf_handlers) {
        PyErr_SetString(PyExc_RuntimeError, message);
        return 1;
    }
    if (timeout >= 0 && timeout / NANOSECONDS < LONGEST_SECONDS)
        span = (struct timespec){ timeout / NANOSECONDS, timeout % NANOSECONDS };
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
    return error || timeout < 0;
}
