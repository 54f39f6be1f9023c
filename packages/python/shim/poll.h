/* The eval loop's view of the time slice (patches/0001-poll.patch). Next: poll.c. */
#ifndef COLDFRAME_PYTHON_POLL_H
#define COLDFRAME_PYTHON_POLL_H

/* The number of calls and backward jumps until the next poll. */
extern int cf_ticks;
/* Whether the guest unwinds because the sidecar interrupted it. */
extern int cf_stopping;

/* Calls the sidecar, and begins the unwinding if the sidecar says so. */
void cf_poll(void);
/* Polls where CPython checks its signals (patches/0004-signals.patch). Returns `cf_stopping`. */
int cf_check(void);
/* Takes the pending signals of the process, after each poll. signals.c sets the function. */
extern void (*cf_take_signals)(void);
/* The number of signals with a handler, besides SIGINT. */
extern int cf_handlers;
/* Ends the unwinding: code of the guest may run again. */
void cf_stop_unwinding(void);

#endif
