/* Sleeping. WASI's libc returns ENOTSUP for every failure of the call, so a sleep that a signal
   ends would not be distinguished. Next: signals.c. */
#include "shim.h"

#include <errno.h>
#include <time.h>
#include <wasi/api.h>

/* The clock identifiers of WASI's libc are addresses of this structure. */
struct __clockid {
    __wasi_clockid_t id;
};

enum { NANOSECONDS = 1000000000 };

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *rest)
{
    __wasi_subscription_t subscription = {
        .u.tag = __WASI_EVENTTYPE_CLOCK,
        .u.u.clock.id = clock->id,
        .u.u.clock.flags = flags & TIMER_ABSTIME ? __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME : 0,
    };
    __wasi_event_t event;
    __wasi_size_t count;

    if (span->tv_nsec < 0 || span->tv_nsec >= NANOSECONDS)
        return EINVAL;
    subscription.u.u.clock.timeout = span->tv_sec < 0 ? 0 : span->tv_sec * (uint64_t)NANOSECONDS + span->tv_nsec;
    __wasi_errno_t error = __wasi_poll_oneoff(&subscription, &event, 1, &count);
    return error ? error : event.error;
}
