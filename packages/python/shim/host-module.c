/* The built-in module `_coldframe_host`: the bootstrap's way to the state block and the sidecar.
   The bootstrap (bootstrap/) decides, and this module only stores. Next: entry.c. */
#include <errno.h>

#include "shim.h"

CfGuest cf_guest = { .state = { .timer_at = -1 } };

void cf_program_ended(int32_t code, uint32_t reason)
{
    cf_guest.state.status = CF_STATUS_EXITED;
    cf_guest.state.exit_code = code;
    cf_guest.state.exit_reason = reason;
}

void cf_evaluation_ended(int32_t code, uint32_t reason)
{
    cf_guest.state.eval_done = cf_guest.eval_id;
    cf_guest.state.eval_exit_code = code;
    cf_guest.state.eval_reason = reason;
    cf_guest.eval_id = 0;
}

PyDoc_STRVAR(program_ended_doc, "program_ended(code, reason): the sidecar ends the program after this turn");

static PyObject *program_ended(PyObject *module, PyObject *args)
{
    int code, reason;

    if (!PyArg_ParseTuple(args, "ii:program_ended", &code, &reason))
        return NULL;
    cf_program_ended(code, reason);
    if (cf_guest.eval_id)
        cf_evaluation_ended(code, reason);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(evaluation_began_doc, "evaluation_began(id): an interruption now ends this evaluation only");

static PyObject *evaluation_began(PyObject *module, PyObject *id)
{
    unsigned long number = PyLong_AsUnsignedLong(id);

    if (number == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    cf_guest.eval_id = number;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(evaluation_ended_doc, "evaluation_ended(code, reason): the sidecar replies with the evaluation's end");

static PyObject *evaluation_ended(PyObject *module, PyObject *args)
{
    int code, reason;

    if (!PyArg_ParseTuple(args, "ii:evaluation_ended", &code, &reason))
        return NULL;
    cf_evaluation_ended(code, reason);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_value_doc, "set_value(text): sets the JSON text, as bytes, that the program returns. None: no value");

static PyObject *set_value(PyObject *module, PyObject *text)
{
    char *bytes = NULL;
    Py_ssize_t length = 0;

    if (text != Py_None && PyBytes_AsStringAndSize(text, &bytes, &length) < 0)
        return NULL;
    char *copy = bytes ? malloc(length ? length : 1) : NULL;
    if (bytes && !copy)
        return PyErr_NoMemory();
    if (copy)
        memcpy(copy, bytes, length);
    free(cf_guest.value);
    cf_guest.value = copy;
    cf_guest.state.value_ptr = (uint32_t)(uintptr_t)copy;
    cf_guest.state.value_len = length;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(mark_doc, "mark(): the user's program begins now");

static PyObject *mark(PyObject *module, PyObject *unused)
{
    host_mark(CF_MARK_USER_CODE);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_process_doc, "set_process(pid, ppid): sets the numbers of the process");

static PyObject *set_process(PyObject *module, PyObject *args)
{
    int pid, ppid;

    if (!PyArg_ParseTuple(args, "ii:set_process", &pid, &ppid))
        return NULL;
    cf_set_process(pid, ppid);
    Py_RETURN_NONE;
}

/* From this number on, a result is a fault of the calls for cryptography. */
enum { FAULT = 4096 };

PyObject *cf_raise(int64_t linux_number)
{
    if (linux_number >= FAULT) {
        PyObject *arguments = Py_BuildValue("is", (int)linux_number, "the computation failed");
        if (arguments)
            PyErr_SetObject(PyExc_OSError, arguments);
        Py_XDECREF(arguments);
        return NULL;
    }
    errno = cf_errno(linux_number);
    return PyErr_SetFromErrno(PyExc_OSError);
}

enum { KERNEL_ARGUMENTS = 8 };
typedef int64_t (*Call)(int32_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

/* The arguments of a call of the kernel, and the buffers that they point to. */
typedef struct Arguments {
    int64_t values[KERNEL_ARGUMENTS];
    int count;
    Py_buffer buffers[KERNEL_ARGUMENTS];
    int buffer_count;
} Arguments;

static bool add_argument(Arguments *all, int64_t value)
{
    if (all->count == KERNEL_ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "a call of the kernel has at most 8 arguments");
        return false;
    }
    all->values[all->count++] = value;
    return true;
}

/* Adds a number, or the address and the length of a buffer. The kernel may write to a buffer that
   is not read-only. */
static bool add_object(Arguments *all, PyObject *object)
{
    if (PyLong_Check(object)) {
        int64_t value = PyLong_AsLongLong(object);
        return !(value == -1 && PyErr_Occurred()) && add_argument(all, value);
    }
    if (all->buffer_count == KERNEL_ARGUMENTS / 2) {
        PyErr_SetString(PyExc_TypeError, "a call of the kernel has at most 4 buffers");
        return false;
    }
    Py_buffer *view = &all->buffers[all->buffer_count];
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0)
        return false;
    all->buffer_count++;
    return add_argument(all, (intptr_t)view->buf) && add_argument(all, view->len);
}

static PyObject *call_kernel(Call call, PyObject *const *args, Py_ssize_t count)
{
    Arguments all = { 0 };
    PyObject *result = NULL;
    int64_t value = 0;
    long number;

    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "a call of the kernel has a number");
        return NULL;
    }
    number = PyLong_AsLong(args[0]);
    bool valid = !(number == -1 && PyErr_Occurred());
    for (Py_ssize_t i = 1; i < count && valid; i++)
        valid = add_object(&all, args[i]);
    const int64_t *v = all.values;
    if (valid)
        value = call(number, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
    for (int i = 0; i < all.buffer_count; i++)
        PyBuffer_Release(&all.buffers[i]);
    if (valid)
        result = value < 0 ? cf_raise(-value) : PyLong_FromLongLong(value);
    return result;
}

PyDoc_STRVAR(sys_doc, "sys(number, *arguments): executes a call of the kernel. An argument is a number, or a buffer as\n"
                      "its address and length. Raises OSError after a negative result");

static PyObject *host_module_sys(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return call_kernel(host_sys, args, count);
}

PyDoc_STRVAR(sys_wait_doc, "sys_wait(number, *arguments): as sys, for the calls that can block");

static PyObject *host_module_sys_wait(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return call_kernel(host_sys_wait, args, count);
}

static PyObject *wait_with(int32_t (*wait)(int32_t), PyObject *descriptor)
{
    int fd = PyLong_AsInt(descriptor);

    if (fd == -1 && PyErr_Occurred())
        return NULL;
    int32_t result = wait(fd);
    if (result < 0)
        return cf_raise(-result);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(wait_readable_doc, "wait_readable(fd): blocks until a read can continue");

static PyObject *wait_readable(PyObject *module, PyObject *descriptor)
{
    return wait_with(host_wait_readable, descriptor);
}

PyDoc_STRVAR(wait_writable_doc, "wait_writable(fd): blocks until a write can continue");

static PyObject *wait_writable(PyObject *module, PyObject *descriptor)
{
    return wait_with(host_wait_writable, descriptor);
}

static PyMethodDef methods[] = {
    { "program_ended", program_ended, METH_VARARGS, program_ended_doc },
    { "evaluation_began", evaluation_began, METH_O, evaluation_began_doc },
    { "evaluation_ended", evaluation_ended, METH_VARARGS, evaluation_ended_doc },
    { "set_value", set_value, METH_O, set_value_doc },
    { "mark", mark, METH_NOARGS, mark_doc },
    { "set_process", set_process, METH_VARARGS, set_process_doc },
    { "sys", (PyCFunction)(void *)host_module_sys, METH_FASTCALL, sys_doc },
    { "sys_wait", (PyCFunction)(void *)host_module_sys_wait, METH_FASTCALL, sys_wait_doc },
    { "wait_readable", wait_readable, METH_O, wait_readable_doc },
    { "wait_writable", wait_writable, METH_O, wait_writable_doc },
    { 0 },
};

static int add_constants(PyObject *module)
{
    static const struct {
        const char *name;
        long value;
    } constants[] = {
        { "EVENT_START", CF_EVENT_START },       { "EVENT_EVAL", CF_EVENT_EVAL },
        { "EVENT_RESTORE", CF_EVENT_RESTORE },   { "EVENT_ABANDON", CF_EVENT_ABANDON },
        { "MODE_EXEC", CF_MODE_EXEC },           { "MODE_RUN", CF_MODE_RUN },
        { "MODE_RESIDENT", CF_MODE_RESIDENT },   { "MODE_FILE", CF_MODE_FILE },
        { "EVAL_RETURNS", CF_EVAL_RETURNS },     { "EVAL_CELL", CF_EVAL_CELL },
        { "REASON_NORMAL", CF_REASON_NORMAL },   { "REASON_UNCAUGHT", CF_REASON_UNCAUGHT },
        { "REASON_MEMORY", CF_REASON_MEMORY },   { "EXIT_MEMORY", CF_EXIT_MEMORY },
    };

    for (size_t i = 0; i < Py_ARRAY_LENGTH(constants); i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0)
            return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, add_constants },
    { 0 },
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_coldframe_host",
    .m_doc = "The state block of docs/internals/guest-abi.md",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__coldframe_host(void)
{
    return PyModuleDef_Init(&definition);
}
