/* Gathers the code objects of a start in one place.

   The interpreter writes to the code that it executes: counters and specialized instructions. The
   code of a start is spread over the image, so each program would write one page for almost every
   function. The copies of this file are neighbours. Next: bootstrap/_coldframe/warm.py. */
#include "shim.h"

/* Pages of 4 KiB are the unit of the image's copies. */
enum { PAGE = 4096, ALIGNMENT = 16 };

static size_t size_of(PyObject *code)
{
    const PyTypeObject *type = Py_TYPE(code);
    size_t size = type->tp_basicsize + Py_SIZE(code) * type->tp_itemsize;

    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* Returns the copies of code objects that nothing has executed. The copies own the references of
   the originals, so the originals must never be freed. */
PyObject *cf_gather(PyObject *codes)
{
    size_t total = 0;

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(codes); i++) {
        if (!PyCode_Check(PyList_GET_ITEM(codes, i)))
            return PyErr_Format(PyExc_TypeError, "a list of code objects is needed");
        total += size_of(PyList_GET_ITEM(codes, i));
    }
    char *at = aligned_alloc(PAGE, (total + PAGE - 1) & ~(size_t)(PAGE - 1));
    PyObject *copies = at ? PyList_New(PyList_GET_SIZE(codes)) : PyErr_NoMemory();
    if (!copies)
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(codes); i++) {
        PyObject *code = PyList_GET_ITEM(codes, i);
        memcpy(at, code, size_of(code));
        /* One reference is never given up, because a part of the memory cannot be freed. */
        ((PyObject *)at)->ob_refcnt = 2;
        Py_INCREF(code);
        PyList_SET_ITEM(copies, i, (PyObject *)at);
        at += size_of(code);
    }
    return copies;
}
