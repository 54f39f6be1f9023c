/* The built-in module `_coldframe_host`: the bootstrap's way to the state block. The bootstrap
   (bootstrap/) decides, and this module only stores. Next: entry.c. */
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

PyDoc_STRVAR(gather_doc, "gather(codes): returns neighbouring copies of code objects that nothing has executed. The image\n"
                         "build keeps the originals");

static PyObject *gather(PyObject *module, PyObject *codes)
{
    if (!PyList_Check(codes))
        return PyErr_Format(PyExc_TypeError, "a list of code objects is needed");
    return cf_gather(codes);
}

static PyMethodDef methods[] = {
    { "program_ended", program_ended, METH_VARARGS, program_ended_doc },
    { "evaluation_began", evaluation_began, METH_O, evaluation_began_doc },
    { "evaluation_ended", evaluation_ended, METH_VARARGS, evaluation_ended_doc },
    { "set_value", set_value, METH_O, set_value_doc },
    { "mark", mark, METH_NOARGS, mark_doc },
    { "gather", gather, METH_O, gather_doc },
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
