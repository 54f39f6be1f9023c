/* The eval loop's view of the time slice (patches/0001-poll.patch). Next: poll.c. */
#ifndef COLDFRAME_PYTHON_POLL_H
#define COLDFRAME_PYTHON_POLL_H

/* The number of calls and backward jumps until the next poll. */
extern int cf_ticks;
/* Whether the guest unwinds because the sidecar interrupted it. */
extern int cf_stopping;

/* Calls the sidecar, and begins the unwinding if the sidecar says so. */
void cf_poll(void);
/* Ends the unwinding: code of the guest may run again. */
void cf_stop_unwinding(void);

#endif
