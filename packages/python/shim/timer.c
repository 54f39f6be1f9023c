/* The timer of `alarm` and `setitimer`. The kernel has no timers of processes, so the guest
   compares the clock where it takes signals. A blocking call of libc ends at the time of the
   timer, because this file adds the time to each `poll_oneoff`. Only ITIMER_REAL exists. Next:
   signals.c. */
#include "shim.h"

#include <errno.h>
#include <sys/time.h>
#include <wasi/api.h>

#include "signals.h"

enum { MICROSECOND = 1000, SECOND = 1000000000, MARK = 0x74696d65 };

/* Nanoseconds of the monotonic clock. `due` is 0 without a timer. */
static int64_t due, interval;

static int64_t now(void)
{
    return host_clock(CF_CLOCK_MONOTONIC);
}

static int64_t left(void)
{
    if (!due)
        return 0;
    int64_t rest = due - now();
    return rest > 0 ? rest : 1;
}

static void start(int64_t first, int64_t next)
{
    due = first ? now() + first : 0;
    interval = next;
}

void cf_check_timer(void)
{
    if (!due || now() < due)
        return;
    start(interval, interval);
    cf_signal_self(SIGALRM);
}

__wasi_errno_t __real___wasi_poll_oneoff(const __wasi_subscription_t *, __wasi_event_t *, __wasi_size_t, __wasi_size_t *);

/* The linker passes all calls of `__wasi_poll_oneoff` to this function (build/flags.mjs). */
__wasi_errno_t __wrap___wasi_poll_oneoff(
    const __wasi_subscription_t *in, __wasi_event_t *out, __wasi_size_t count, __wasi_size_t *out_count)
{
    if (!due)
        return __real___wasi_poll_oneoff(in, out, count, out_count);
    __wasi_subscription_t *all = malloc((count + 1) * sizeof(*all));
    __wasi_event_t *events = malloc((count + 1) * sizeof(*events));
    __wasi_errno_t error = ENOMEM;

    if (all && events) {
        memcpy(all, in, count * sizeof(*all));
        all[count] = (__wasi_subscription_t){
            .userdata = MARK,
            .u.tag = __WASI_EVENTTYPE_CLOCK,
            .u.u.clock = { .id = __WASI_CLOCKID_MONOTONIC, .timeout = left() },
        };
        __wasi_size_t made = 0;
        error = __real___wasi_poll_oneoff(all, events, count + 1, &made);
        *out_count = 0;
        for (__wasi_size_t i = 0; i < made; i++)
            if (events[i].userdata != MARK || events[i].type != __WASI_EVENTTYPE_CLOCK)
                out[(*out_count)++] = events[i];
        if (!error && *out_count == 0)
            error = EINTR;
    }
    free(all);
    free(events);
    return error;
}

/* Waits for a descriptor at most until the timer. Returns 0, or a negative error number of
   Linux. */
static int32_t wait_for(int32_t fd, uint8_t kind, int32_t (*wait)(int32_t fd))
{
    if (!due)
        return wait(fd);
    __wasi_subscription_t subscription = { .u.tag = kind, .u.u.fd_read.file_descriptor = fd };
    __wasi_event_t event;
    __wasi_size_t count;

    return __wrap___wasi_poll_oneoff(&subscription, &event, 1, &count) ? -CF_EINTR : 0;
}

int32_t cf_wait_readable(int32_t fd)
{
    return wait_for(fd, __WASI_EVENTTYPE_FD_READ, host_wait_readable);
}

int32_t cf_wait_writable(int32_t fd)
{
    return wait_for(fd, __WASI_EVENTTYPE_FD_WRITE, host_wait_writable);
}

int64_t cf_wait_limit(int64_t limit)
{
    return due && (limit < 0 || limit > left()) ? left() : limit;
}

__wasi_errno_t __real___wasi_fd_read(__wasi_fd_t, const __wasi_iovec_t *, size_t, __wasi_size_t *);

__wasi_errno_t __wrap___wasi_fd_read(__wasi_fd_t fd, const __wasi_iovec_t *vectors, size_t count, __wasi_size_t *length)
{
    if (due && cf_wait_readable(fd) < 0)
        return EINTR;
    return __real___wasi_fd_read(fd, vectors, count, length);
}

static struct timeval timeval_of(int64_t span)
{
    return (struct timeval){ span / SECOND, span % SECOND / MICROSECOND };
}

static int64_t span_of(struct timeval value)
{
    return value.tv_sec * (int64_t)SECOND + value.tv_usec * MICROSECOND;
}

int getitimer(int which, struct itimerval *value)
{
    if (which != ITIMER_REAL) {
        errno = EINVAL;
        return -1;
    }
    *value = (struct itimerval){ timeval_of(interval), timeval_of(left()) };
    return 0;
}

int setitimer(int which, const struct itimerval *value, struct itimerval *before)
{
    struct itimerval old;

    if (getitimer(which, &old) < 0)
        return -1;
    if (before)
        *before = old;
    start(span_of(value->it_value), span_of(value->it_interval));
    return 0;
}

unsigned alarm(unsigned seconds)
{
    int64_t rest = left();

    start(seconds * (int64_t)SECOND, 0);
    return (rest + SECOND - 1) / SECOND;
}
