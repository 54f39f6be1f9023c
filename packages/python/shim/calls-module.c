/* The built-in module `_coldframe_calls`: the kernel's calls for the bootstrap's Python code.
   Next: bootstrap/_coldframe/processes.py. */
#include "shim.h"

#include <errno.h>

#include "calls.h"
#include "signals.h"

enum {
    ARGUMENTS = 8,
    BUFFERS = 4,
    /* From this number on, a result is a fault of the calls for cryptography. */
    FAULT = 4096,
};

typedef int64_t (*Call)(int32_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

/* The arguments of a call of the kernel, and the buffers that they point to. */
typedef struct Arguments {
    int64_t words[ARGUMENTS];
    int count;
    Py_buffer buffers[BUFFERS];
    int buffer_count;
} Arguments;

static int add_word(Arguments *all, int64_t word)
{
    if (all->count == ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "a call of the kernel has at most 8 words");
        return -1;
    }
    all->words[all->count++] = word;
    return 0;
}

/* Adds a number, or the address and the length of a buffer. The kernel may write to a buffer that
   is not read-only. */
static int add_argument(Arguments *all, PyObject *object)
{
    if (PyLong_Check(object)) {
        int64_t word = PyLong_AsLongLong(object);
        return word == -1 && PyErr_Occurred() ? -1 : add_word(all, word);
    }
    if (all->buffer_count == BUFFERS) {
        PyErr_SetString(PyExc_TypeError, "a call of the kernel has at most 4 buffers");
        return -1;
    }
    Py_buffer *view = &all->buffers[all->buffer_count];
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0)
        return -1;
    all->buffer_count++;
    return add_word(all, (intptr_t)view->buf) < 0 ? -1 : add_word(all, view->len);
}

static PyObject *raise_error(int64_t linux_number)
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

static PyObject *make_call(Call call, PyObject *const *args, Py_ssize_t arg_count)
{
    Arguments all = { 0 };
    int64_t result = 0;

    if (arg_count < 1) {
        PyErr_SetString(PyExc_TypeError, "the number of the call is missing");
        return NULL;
    }
    long number = PyLong_AsLong(args[0]);
    bool is_valid = !(number == -1 && PyErr_Occurred());
    for (Py_ssize_t i = 1; i < arg_count && is_valid; i++)
        is_valid = add_argument(&all, args[i]) == 0;
    if (is_valid) {
        int64_t *w = all.words;
        if (number == CF_SYS_WAIT_FOR_WATCHED)
            w[0] = cf_wait_limit(w[0]);
        result = call(number, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
    }
    for (int i = 0; i < all.buffer_count; i++)
        PyBuffer_Release(&all.buffers[i]);
    if (!is_valid)
        return NULL;
    if (result == -CF_EINTR && PyErr_CheckSignals() < 0)
        return NULL;
    return result < 0 ? raise_error(-result) : PyLong_FromLongLong(result);
}

PyDoc_STRVAR(sys_doc, "sys(number, *arguments): makes a call of the kernel. An argument is a number, or a buffer as\n"
                      "its address and length. Raises OSError if the call fails");

static PyObject *sys(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make_call(host_sys, args, count);
}

PyDoc_STRVAR(wait_doc, "wait(number, *arguments): makes a call that waits. Raises InterruptedError after a signal");

static PyObject *wait(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make_call(host_sys_wait, args, count);
}

PyDoc_STRVAR(begin_process_doc, "begin_process(pid, ppid): sets the numbers of the process, and passes the actions of\n"
                                "signals to the kernel");

static PyObject *begin_process(PyObject *module, PyObject *args)
{
    int pid, ppid;

    if (!PyArg_ParseTuple(args, "ii:begin_process", &pid, &ppid))
        return NULL;
    cf_set_process(pid, ppid);
    cf_begin_process(pid);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "sys", (PyCFunction)(void (*)(void))sys, METH_FASTCALL, sys_doc },
    { "wait", (PyCFunction)(void (*)(void))wait, METH_FASTCALL, wait_doc },
    { "begin_process", begin_process, METH_VARARGS, begin_process_doc },
    { 0 },
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_coldframe_calls",
    .m_doc = "The calls of docs/internals/guest-abi.md",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__coldframe_calls(void)
{
    return PyModuleDef_Init(&definition);
}
