/* Signals. Replaces the functions of WASI's libc, which only emulate signals inside the process.

   The kernel stores the action of each signal. A signal with a handler stays pending until the
   guest takes it: after a poll of the eval loop, and where CPython checks its signals. From the
   first `take_signal` on, a pending signal ends a blocking call with EINTR. Next: poll.c. */
#include "shim.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "calls.h"
#include "signals.h"

typedef void (*Handler)(int);

enum { DEFAULT = 0, LISTEN = 1, IGNORE = 2, FOREVER = -1 };

static Handler handlers[_NSIG];
static int32_t process_id;

/* The addresses of these two functions are SIG_IGN and SIG_ERR. */
void __SIG_IGN(int number) {}
void __SIG_ERR(int number) {}

static bool is_called(Handler handler)
{
    return handler != SIG_DFL && handler != SIG_IGN;
}

static int64_t set_action(int number)
{
    Handler handler = handlers[number];
    int action = handler == SIG_DFL ? DEFAULT : handler == SIG_IGN ? IGNORE : LISTEN;

    return host_sys(CF_SYS_LISTEN_SIGNAL, number, action, 0, 0, 0, 0, 0, 0);
}

static void take_signals(void)
{
    int64_t number;

    cf_check_timer();
    while ((number = host_sys(CF_SYS_TAKE_SIGNAL, 0, 0, 0, 0, 0, 0, 0, 0)) > 0)
        if (number < _NSIG && is_called(handlers[number]))
            handlers[number](number);
}

void cf_signal_self(int number)
{
    if (is_called(handlers[number]))
        handlers[number](number);
    else if (handlers[number] == SIG_DFL)
        host_sys(CF_SYS_KILL, process_id, number, 0, 0, 0, 0, 0, 0);
}

static void count_handlers(void)
{
    cf_handlers = 0;
    for (int number = 1; number < _NSIG; number++)
        cf_handlers += number != SIGINT && is_called(handlers[number]);
}

Handler signal(int number, Handler handler)
{
    if (number < 1 || number >= _NSIG) {
        errno = EINVAL;
        return SIG_ERR;
    }
    Handler before = handlers[number];
    if (before == handler)
        return before;
    handlers[number] = handler;
    int64_t result = set_action(number);
    /* The image build has no kernel. `cf_begin_process` sets the actions later. */
    if (result < 0 && result != -CF_ENOSYS) {
        handlers[number] = before;
        errno = cf_errno(-result);
        return SIG_ERR;
    }
    count_handlers();
    return before;
}

int siginterrupt(int number, int interrupts)
{
    return 0;
}

int raise(int number)
{
    int64_t result = host_sys(CF_SYS_KILL, process_id, number, 0, 0, 0, 0, 0, 0);

    if (result < 0) {
        errno = cf_errno(-result);
        return -1;
    }
    take_signals();
    return 0;
}

int pause(void)
{
    int64_t result = host_sys(CF_SYS_WATCH, 0, 0, 0, 0, 0, 0, 0, 0);

    if (result >= 0)
        result = host_sys_wait(CF_SYS_WAIT_FOR_WATCHED, cf_wait_limit(FOREVER), 0, 0, 0, 0, 0, 0, 0);
    errno = result < 0 ? cf_errno(-result) : EINTR;
    return -1;
}

void cf_begin_process(int32_t pid)
{
    process_id = pid;
    for (int number = 1; number < _NSIG; number++)
        if (handlers[number] != SIG_DFL)
            set_action(number);
    cf_take_signals = take_signals;
    take_signals();
}
