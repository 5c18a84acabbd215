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
static const exchange *find_table(PyTypeObject *class)
{
    static const char CAPSULE[] = "dlpack_exchange_api";
    PyObject *members = class->tp_dict;
    PyObject *capsule = members == NULL ? NULL : PyDict_GetItemWithError(members, table_name);
    const exchange *table = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, CAPSULE);
    while (table != NULL && table->version.major > FER_DL_VERSION_MAJOR)
        table = table->previous;
    return table != NULL && table->version.major == FER_DL_VERSION_MAJOR ? table : NULL;
}

/* Elements are not all there is to a tensor that takes part in differentiation, and the table's
 * functions do not tell. */
static bool wants_gradient(PyObject *object)
{
    PyObject *answer = NULL;
    bool wants = PyObject_GetOptionalAttr(object, gradient_name, &answer) < 0 ||
                 (answer != NULL && answer != Py_False);
    Py_XDECREF(answer);
    return wants;
}

bool fpy_exchange_describe(PyObject *object, fer_dl_tensor *out_tensor)
{
    const exchange *table = find_table(Py_TYPE(object));
    if (table != NULL && table->describe != NULL && !wants_gradient(object) &&
        table->describe(object, out_tensor) == 0)
        return true;
    PyErr_Clear();
    return false;
}
