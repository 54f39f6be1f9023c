/* The declarations that the shim's files share. Next: entry.c, the guest's entry points. */
#ifndef COLDFRAME_PYTHON_SHIM_H
#define COLDFRAME_PYTHON_SHIM_H
#include <Python.h>
#include <stdbool.h>

#include "host.h"
#include "poll.h"

/* The state that the sidecar reads after a turn, and what the shim has to know between turns. */
typedef struct CfGuest {
    CfState state;
    /* The evaluation that runs, or 0. */
    uint32_t eval_id;
    /* Buffers of the guest: the text at `state.value_ptr`, and events longer than the inbox. */
    void *value;
    void *big_inbox;
} CfGuest;

extern CfGuest cf_guest;

/* host-module.c: the module `_coldframe_host`, with which the bootstrap writes the state. */
PyMODINIT_FUNC PyInit__coldframe_host(void);
void cf_program_ended(int32_t code, uint32_t reason);
void cf_evaluation_ended(int32_t code, uint32_t reason);

/* process.c: sets the numbers of the process. */
void cf_set_process(int32_t pid, int32_t ppid);

/* calls-module.c: the module `_coldframe_calls`, with which the bootstrap calls the kernel. */
PyMODINIT_FUNC PyInit__coldframe_calls(void);

/* signals.c: stores the pid of the process, and passes the actions of signals to the kernel. */
void cf_begin_process(int32_t pid);

/* immortal.c: makes all live objects immortal. Returns whether there was enough memory. */
bool cf_make_immortal(void);

/* gather.c: returns neighbouring copies of code objects that nothing has executed. */
PyObject *cf_gather(PyObject *codes);

/* clusters.c: keeps programs from allocating between the objects of the image. */
void cf_cluster_allocations(void);

/* errors.c: returns libc's number of a Linux error number. */
int cf_errno(int64_t linux_number);
int cf_linux_errno(int libc_number);
const char *cf_error_text(int linux_number);
/* Returns -1 with `errno` of a failed call of the kernel, and the result of any other call. */
int64_t cf_result(int64_t result);

#endif
