/* Yields the worker at the end of the time slice, and interrupts the guest.

   The eval loop counts calls and backward jumps (patches/0001-poll.patch). After each thousand, it
   calls the sidecar's `poll`. If `poll` returns 1, the guest must unwind, and no guest code may
   catch the error. So `cf_stopping` is set, which has two effects: every check of the eval loop
   raises an error, and no frame's handler runs. A C function that drops the error cannot continue
   the program for longer than until the next call or backward jump. */
#include <Python.h>
#include "internal/pycore_ceval.h"
#include "internal/pycore_pystate.h"

#include "host.h"
#include "poll.h"

enum { TICKS = 1000 };

int cf_ticks = TICKS;
int cf_stopping;
int cf_handlers;
void (*cf_take_signals)(void);

void cf_poll(void)
{
    cf_ticks = TICKS;
    if (host_poll() != 1) {
        if (cf_take_signals)
            cf_take_signals();
        return;
    }
    cf_stopping = 1;
    /* Any bit makes the eval loop call `_Py_HandlePending`, which raises the error. */
    _Py_set_eval_breaker_bit(_PyThreadState_GET(), _PY_ASYNC_EXCEPTION_BIT);
}

int cf_check(void)
{
    if (!cf_stopping)
        cf_poll();
    return cf_stopping;
}

void cf_stop_unwinding(void)
{
    cf_stopping = 0;
    _Py_unset_eval_breaker_bit(_PyThreadState_GET(), _PY_ASYNC_EXCEPTION_BIT);
    PyErr_Clear();
}
