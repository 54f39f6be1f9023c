/* The exports of docs/internals/guest-abi.md: boot, freeze, info, inbox and turn.

   A turn passes each event to the function `deliver` of the bootstrap, which runs the program to
   its end. Calls of the kernel block the VM in the middle of the turn, so a program of Python
   needs no event loop around it. Next: bootstrap/_coldframe/events.py. */
#include <unistd.h>

#include "shim.h"

#define PREFIX L"/usr"
#define LIBRARY L"/usr/lib/python3.13"
/* The folder into which programs install packages. */
#define PACKAGES L"/usr/local/lib/python3.13/site-packages"

enum { INBOX_SIZE = 64 * 1024, STACK_SIZE = 8 << 20 };

static uint8_t inbox[INBOX_SIZE] __attribute__((aligned(16)));
static CfInfo info;
static PyObject *deliver;
static uint32_t frozen_end;

static _Noreturn void fail(uint32_t kind, const char *text)
{
    if (PyErr_Occurred())
        PyErr_Print();
    host_fatal(kind, text, strlen(text));
}

/* Sets every path, because the interpreter would otherwise search the file system for them. */
static PyStatus set_paths(PyConfig *config)
{
    const struct {
        wchar_t **field;
        const wchar_t *path;
    } paths[] = {
        { &config->program_name, PREFIX L"/bin/python3" },
        { &config->executable, PREFIX L"/bin/python3" },
        { &config->base_executable, PREFIX L"/bin/python3" },
        { &config->home, PREFIX },
        { &config->prefix, PREFIX },
        { &config->base_prefix, PREFIX },
        { &config->exec_prefix, PREFIX },
        { &config->base_exec_prefix, PREFIX },
        { &config->platlibdir, L"lib" },
        { &config->stdlib_dir, LIBRARY },
    };

    for (size_t i = 0; i < Py_ARRAY_LENGTH(paths); i++) {
        PyStatus status = PyConfig_SetString(config, paths[i].field, paths[i].path);
        if (PyStatus_Exception(status))
            return status;
    }
    config->module_search_paths_set = 1;
    PyStatus status = PyWideStringList_Append(&config->module_search_paths, LIBRARY);
    return PyStatus_Exception(status) ? status : PyWideStringList_Append(&config->module_search_paths, PACKAGES);
}

static PyStatus start_interpreter(void)
{
    PyPreConfig before;
    PyConfig config;
    PyStatus status;

    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    status = Py_PreInitialize(&before);
    if (PyStatus_Exception(status))
        return status;

    PyConfig_InitPythonConfig(&config);
    /* Strings keep their hashes, so the seed of an image cannot change after the build. */
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    config.install_signal_handlers = 1;
    config.parse_argv = 0;
    config.pathconfig_warnings = 0;
    config.user_site_directory = 0;
    config.use_environment = 0;
    config.write_bytecode = 0;
    status = set_paths(&config);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    return status;
}

CF_EXPORT(cf_boot) int32_t cf_boot(void)
{
    PyStatus status = start_interpreter();
    PyObject *events;

    if (PyStatus_Exception(status))
        fail(CF_FATAL_INVARIANT, status.err_msg ? status.err_msg : "the interpreter did not start");
    events = PyImport_ImportModule("_coldframe.events");
    deliver = events ? PyObject_GetAttrString(events, "deliver") : NULL;
    if (!deliver)
        fail(CF_FATAL_INVARIANT, "the bootstrap failed");
    Py_DECREF(events);
    return 0;
}

CF_EXPORT(cf_freeze) int32_t cf_freeze(void)
{
    PyGC_Collect();
    PyGC_Collect();
    if (!cf_make_immortal())
        fail(CF_FATAL_MEMORY, "no memory to freeze the image");
    cf_cluster_allocations();
    frozen_end = (uint32_t)(uintptr_t)sbrk(0);
    return 0;
}

CF_EXPORT(cf_info) int32_t cf_info(void)
{
    info = (CfInfo){
        .abi_version = CF_ABI_VERSION,
        .state_ptr = (uint32_t)(uintptr_t)&cf_guest.state,
        .inbox_ptr = (uint32_t)(uintptr_t)inbox,
        .inbox_len = INBOX_SIZE,
        .frozen_end = frozen_end,
        .stack_size = STACK_SIZE,
    };
    return (int32_t)(uintptr_t)&info;
}

CF_EXPORT(cf_inbox) int32_t cf_inbox(int32_t len)
{
    if (len >= 0 && len <= INBOX_SIZE)
        return (int32_t)(uintptr_t)inbox;
    free(cf_guest.big_inbox);
    cf_guest.big_inbox = len > 0 ? malloc((uint32_t)len) : NULL;
    return (int32_t)(uintptr_t)cf_guest.big_inbox;
}

/* Ends what the sidecar interrupted: an evaluation of a resident runner, or the program. */
static void end_interrupted_work(void)
{
    cf_stop_unwinding();
    if (cf_guest.eval_id)
        cf_evaluation_ended(CF_EXIT_INTERRUPTED, CF_REASON_INTERRUPTED);
    else
        cf_program_ended(CF_EXIT_INTERRUPTED, CF_REASON_INTERRUPTED);
}

/* Ends the program after an error that the bootstrap did not handle. */
static void end_after_error(void)
{
    bool is_memory = PyErr_ExceptionMatches(PyExc_MemoryError);

    PyErr_Print();
    if (is_memory)
        cf_program_ended(CF_EXIT_MEMORY, CF_REASON_MEMORY);
    else
        cf_program_ended(1, CF_REASON_UNCAUGHT);
    if (cf_guest.eval_id)
        cf_evaluation_ended(cf_guest.state.exit_code, cf_guest.state.exit_reason);
}

static void deliver_event(const CfEvent *event)
{
    const char *payload = (const char *)(event + 1);
    PyObject *result = PyObject_CallFunction(deliver, "IIiy#", event->kind, event->id, event->result, payload,
                                             (Py_ssize_t)event->len);

    Py_XDECREF(result);
    if (cf_stopping)
        end_interrupted_work();
    else if (!result)
        end_after_error();
}

CF_EXPORT(cf_turn) int32_t cf_turn(int32_t ptr, int32_t len)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)(uint32_t)ptr;
    const uint8_t *end = at + (uint32_t)len;

    cf_guest.state.eval_done = 0;
    while (at < end && cf_guest.state.status != CF_STATUS_EXITED) {
        const CfEvent *event = (const CfEvent *)at;
        deliver_event(event);
        at += sizeof(*event) + ((event->len + 7) & ~7u);
    }
    free(cf_guest.big_inbox);
    cf_guest.big_inbox = NULL;
    return cf_guest.state.status == CF_STATUS_EXITED;
}
