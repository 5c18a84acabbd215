/* DLPack's exchange in C: a class may publish a table of functions as `__dlpack_c_exchange_api__`,
 * and then its objects are described without a capsule and without a method of Python. torch does.
 */
#include "core.h"

#if PY_VERSION_HEX < 0x030D0000
#define PyObject_GetOptionalAttr _PyObject_LookupAttr
#endif

/* DLPackExchangeAPI, member for member. */
typedef struct exchange {
    fer_dl_version version;
    const struct exchange *previous; /* of an older major version, or NULL */
    void (*allocate)(void);          /* these are not called here, nor the last one */
    void (*give)(void);
    void (*take)(void);
    int (*describe)(void *object, fer_dl_tensor *out_tensor); /* or NULL */
    void (*current_stream)(void);
} exchange;

_Static_assert(sizeof(exchange) == 56 && offsetof(exchange, describe) == 40, "DLPack's layout");

static PyObject *table_name, *gradient_name;

int fpy_ready_exchange(void)
{
    table_name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    gradient_name = PyUnicode_InternFromString("requires_grad");
    return table_name == NULL || gradient_name == NULL ? -1 : 0;
}

/* The class's own table. One that is inherited knows nothing of what a subclass makes of its
 * elements; a method can. */
static const exchange *look_up_table(PyTypeObject *class)
{
    static const char CAPSULE[] = "dlpack_exchange_api";
    PyObject *members = class->tp_dict;
    PyObject *capsule = members == NULL ? NULL : PyDict_GetItemWithError(members, table_name);
    const exchange *table = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, CAPSULE);
    while (table != NULL && table->version.major > FER_DL_VERSION_MAJOR)
        table = table->previous;
    return table != NULL && table->version.major == FER_DL_VERSION_MAJOR ? table : NULL;
}

/* What the class has for `requires_grad` when that is C's and no object can have another; else
 * NULL.
 */
static const PyGetSetDef *look_up_gradient(PyTypeObject *class)
{
    if (class->tp_getattro != PyObject_GenericGetAttr)
        return NULL;
    PyObject *member = PyObject_GetAttr((PyObject *)class, gradient_name);
    const PyGetSetDef *getter = NULL;
    if (member == NULL)
        PyErr_Clear();
    else if (Py_IS_TYPE(member, &PyGetSetDescr_Type))
        getter = ((PyGetSetDescrObject *)member)->d_getset;
    Py_XDECREF(member); /* the class keeps it */
    return getter;
}

/* A number that changes when the class does, and that no other class ever has; 0: there is none. */
static unsigned version_of(const PyTypeObject *class)
{
#if PY_VERSION_HEX < 0x030D0000
    if (!PyType_HasFeature((PyTypeObject *)class, Py_TPFLAGS_VALID_VERSION_TAG))
        return 0;
#endif
    return class->tp_version_tag;
}

/* What was looked up last, since tensors are of one class most of the time: it is a fifth of a
 * call. */
typedef struct known_class {
    unsigned version;
    const exchange *table;       /* or NULL */
    const PyGetSetDef *gradient; /* or NULL */
} known_class;

static known_class known;

static known_class look_up(PyTypeObject *class)
{
    unsigned version = version_of(class);
    if (version != 0 && version == known.version)
        return known;
    known_class found = {.table = look_up_table(class)};
    if (found.table != NULL)
        found.gradient = look_up_gradient(class);
    found.version = version_of(class);
    known = found;
    return found;
}

/* Elements are not all there is to a tensor that takes part in differentiation, and the table's
 * functions do not tell. */
static bool wants_gradient(PyObject *object, const PyGetSetDef *getter)
{
    PyObject *answer = NULL;
    int found = 1;
    if (getter != NULL)
        answer = getter->get(object, getter->closure);
    else
        found = PyObject_GetOptionalAttr(object, gradient_name, &answer);
    bool wants = found != 0 && answer != Py_False;
    Py_XDECREF(answer);
    return wants;
}

bool fpy_exchange_describe(PyObject *object, fer_dl_tensor *out_tensor)
{
    known_class class = look_up(Py_TYPE(object));
    if (class.table != NULL && class.table->describe != NULL &&
        !wants_gradient(object, class.gradient) && class.table->describe(object, out_tensor) == 0)
        return true;
    PyErr_Clear();
    return false;
}
