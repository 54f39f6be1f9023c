/* The functions that libc expects of WASI, implemented with the sidecar's functions or without
   imports, because the module imports only `coldframe`. Messages about a broken invariant of the
   engine are written to fd 2. */
#include "host.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static void put_stderr(const char *text, size_t n)
{
    while (n) {
        int32_t taken = host_write(2, text, n);
        if (taken == -HOST_EAGAIN) {
            if (host_wait_writable(2) < 0)
                return;
            continue;
        }
        if (taken <= 0)
            return;
        text += taken;
        n -= taken;
    }
}

int vprintf(const char *restrict format, va_list args)
{
    char buf[512];
    int n = vsnprintf(buf, sizeof(buf), format, args);
    if (n > 0)
        put_stderr(buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
    return n;
}

int printf(const char *restrict format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vprintf(format, args);
    va_end(args);
    return n;
}

int fprintf(FILE *restrict file, const char *restrict format, ...)
{
    (void)file;
    va_list args;
    va_start(args, format);
    int n = vprintf(format, args);
    va_end(args);
    return n;
}

int puts(const char *text)
{
    put_stderr(text, strlen(text));
    put_stderr("\n", 1);
    return 0;
}

int putchar(int c)
{
    char byte = (char)c;
    put_stderr(&byte, 1);
    return c;
}

_Noreturn void abort(void)
{
    static const char text[] = "the engine gave up";
    host_fatal(CF_FATAL_INVARIANT, text, sizeof(text) - 1);
}

_Noreturn void exit(int code)
{
    (void)code;
    abort();
}

_Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function)
{
    char buf[256];
    int n = snprintf(buf, sizeof(buf), "assertion failed: %s (%s:%d, %s)", what, file, line, function);
    host_fatal(CF_FATAL_INVARIANT, buf, n < 0 ? 0 : (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

static int64_t nanoseconds(clockid_t id)
{
    return host_clock(id == CLOCK_REALTIME ? CF_CLOCK_WALL : CF_CLOCK_MONOTONIC);
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    int64_t ns = nanoseconds(id);
    out->tv_sec = ns / 1000000000;
    out->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    (void)zone;
    int64_t ns = nanoseconds(CLOCK_REALTIME);
    out->tv_sec = ns / 1000000000;
    out->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
    return 0;
}

time_t time(time_t *out)
{
    time_t now = (time_t)(nanoseconds(CLOCK_REALTIME) / 1000000000);
    if (out)
        *out = now;
    return now;
}
