/* Makes all live objects immortal, so that no program of an image writes their reference counts.

   A written page of the image becomes a private page of the program. Without this step, every
   use of an object of the image would write a page. The walk begins at the collector's objects
   and follows the references that each type reports. Code objects report none, so their fields
   are listed here. `gc.freeze` must follow and not precede, because it hides the objects from
   the collector. */
#include "shim.h"

typedef struct Walk {
    PyObject **stack;
    size_t count, capacity;
    bool failed;
} Walk;

/* Makes an object immortal, and remembers an object that became so. */
static int visit(PyObject *object, void *context)
{
    Walk *walk = context;

    if (!object || _Py_IsImmortal(object) || walk->failed)
        return 0;
    object->ob_refcnt = _Py_IMMORTAL_REFCNT;
    if (walk->count == walk->capacity) {
        size_t capacity = walk->capacity ? walk->capacity * 2 : 1 << 16;
        PyObject **stack = realloc(walk->stack, capacity * sizeof(*stack));
        if (!stack) {
            walk->failed = true;
            return 0;
        }
        walk->stack = stack;
        walk->capacity = capacity;
    }
    walk->stack[walk->count++] = object;
    return 0;
}

static void visit_references(PyObject *object, Walk *walk)
{
    PyTypeObject *type = Py_TYPE(object);

    if (type->tp_traverse)
        type->tp_traverse(object, visit, walk);
    visit((PyObject *)type, walk);
    if (PyCode_Check(object)) {
        PyCodeObject *code = (PyCodeObject *)object;
        PyObject *fields[] = {
            code->co_consts,   code->co_names,    code->co_exceptiontable, code->co_localsplusnames, code->co_localspluskinds,
            code->co_filename, code->co_name,     code->co_qualname,       code->co_linetable,
        };
        for (size_t i = 0; i < Py_ARRAY_LENGTH(fields); i++)
            visit(fields[i], walk);
    }
}

bool cf_make_immortal(void)
{
    Walk walk = { 0 };
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *objects = gc ? PyObject_CallMethod(gc, "get_objects", NULL) : NULL;

    if (!objects)
        return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); i++) {
        PyObject *object = PyList_GET_ITEM(objects, i);
        /* An object that is immortal already can refer to mortal objects. */
        visit(object, &walk);
        visit_references(object, &walk);
        while (walk.count)
            visit_references(walk.stack[--walk.count], &walk);
    }
    free(walk.stack);
    Py_DECREF(objects);
    PyObject *frozen = walk.failed ? NULL : PyObject_CallMethod(gc, "freeze", NULL);
    return frozen != NULL;
}
