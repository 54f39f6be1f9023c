/* The built-in module `_coldframe_calls`: the kernel's calls for the bootstrap's Python code.
   Next: bootstrap/_coldframe/processes.py. */
#include "shim.h"

#include <errno.h>

#include "calls.h"
#include "signals.h"

enum { ARGUMENTS = 8 };

typedef int64_t (*Call)(int32_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

/* Converts one argument of Python. Bytes become an address and a length. */
static int append(PyObject *value, int64_t words[ARGUMENTS], int *count)
{
    int needed = PyLong_Check(value) ? 1 : 2;

    if (*count + needed > ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "a call of the kernel has at most 8 words");
        return -1;
    }
    if (PyLong_Check(value)) {
        words[(*count)++] = PyLong_AsLongLong(value);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (PyBytes_Check(value)) {
        words[(*count)++] = (intptr_t)PyBytes_AS_STRING(value);
        words[(*count)++] = PyBytes_GET_SIZE(value);
        return 0;
    }
    if (PyByteArray_Check(value)) {
        words[(*count)++] = (intptr_t)PyByteArray_AS_STRING(value);
        words[(*count)++] = PyByteArray_GET_SIZE(value);
        return 0;
    }
    PyErr_SetString(PyExc_TypeError, "an argument is a number, bytes or a bytearray");
    return -1;
}

static PyObject *make_call(Call call, PyObject *const *args, Py_ssize_t arg_count)
{
    int64_t words[ARGUMENTS] = { 0 };
    int count = 0;

    if (arg_count < 1) {
        PyErr_SetString(PyExc_TypeError, "the number of the call is missing");
        return NULL;
    }
    long number = PyLong_AsLong(args[0]);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    for (Py_ssize_t i = 1; i < arg_count; i++)
        if (append(args[i], words, &count) < 0)
            return NULL;
    if (number == CF_SYS_WAIT_FOR_WATCHED)
        words[0] = cf_wait_limit(words[0]);
    int64_t result = call(number, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]);
    /* A signal to this process has its effect before the call returns, as in CPython's
       `os.kill`. */
    if ((result == -CF_EINTR || number == CF_SYS_KILL) && PyErr_CheckSignals() < 0)
        return NULL;
    if (result >= 0)
        return PyLong_FromLongLong(result);
    errno = cf_errno(-result);
    return PyErr_SetFromErrno(PyExc_OSError);
}

PyDoc_STRVAR(sys_doc, "sys(number, ...): makes a call of the kernel, and raises OSError if the call fails");

static PyObject *sys(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make_call(host_sys, args, count);
}

PyDoc_STRVAR(wait_doc, "wait(number, ...): makes a call that waits. Raises InterruptedError after a signal");

static PyObject *wait(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return make_call(host_sys_wait, args, count);
}

PyDoc_STRVAR(begin_process_doc, "begin_process(pid): passes the actions of signals to the kernel");

static PyObject *begin_process(PyObject *module, PyObject *pid)
{
    long number = PyLong_AsLong(pid);

    if (number == -1 && PyErr_Occurred())
        return NULL;
    cf_begin_process(number);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "sys", (PyCFunction)(void (*)(void))sys, METH_FASTCALL, sys_doc },
    { "wait", (PyCFunction)(void (*)(void))wait, METH_FASTCALL, wait_doc },
    { "begin_process", begin_process, METH_O, begin_process_doc },
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
