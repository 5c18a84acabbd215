/* NumPy's arrays, read where they lie. A buffer of one costs five times as much as the call of a
 * tiny op, since NumPy writes down its shape and format anew each time. Here is what needs no more
 * than a look: arrays whose elements can be used as they lie. All other ones are left to their
 * buffers, which also say what is wrong.
 *
 * NumPy is asked for its API when the first array comes, which has imported it; nothing here does.
 * It may be any version from 1.23 on, whichever one the headers are of. */
#include "core.h"

#include <string.h>

#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

static PyTypeObject *array_class; /* NULL: NumPy has not been asked, or cannot be used */
static bool was_asked;

static bool is_imported(void)
{
    PyObject *name = PyUnicode_FromString("numpy");
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    bool is_there = module != NULL;
    Py_XDECREF(module);
    Py_XDECREF(name);
    return is_there;
}

/* A class may have any name, so only NumPy itself says which one is its own. */
static Py_NO_INLINE void ask_numpy(const PyTypeObject *class)
{
    if (strcmp(class->tp_name, "numpy.ndarray") != 0)
        return;
    if (is_imported()) {
        was_asked = true;
        if (_import_array() == 0)
            array_class = &PyArray_Type;
    }
    PyErr_Clear();
}

/* Of a subclass, elements are not all there is. */
static inline bool is_array(PyObject *object)
{
    if (array_class == NULL && !was_asked)
        ask_numpy(Py_TYPE(object));
    return Py_IS_TYPE(object, array_class);
}

enum { NUM_USER_TYPES = 32 };

/* By NumPy's numbers of types. Those of ml_dtypes are given out when they are registered, for the
 * rest of the process, and learnt. */
static uint8_t dtypes[NPY_USERDEF + NUM_USER_TYPES] = {
    [NPY_BOOL] = FER_BOOL, [NPY_BYTE] = FER_I8,       [NPY_SHORT] = FER_I16,
    [NPY_INT] = FER_I32,   [NPY_LONG] = FER_I64,      [NPY_LONGLONG] = FER_I64,
    [NPY_UBYTE] = FER_U8,  [NPY_USHORT] = FER_U16,    [NPY_UINT] = FER_U32,
    [NPY_ULONG] = FER_U64, [NPY_ULONGLONG] = FER_U64, [NPY_HALF] = FER_F16,
    [NPY_FLOAT] = FER_F32, [NPY_DOUBLE] = FER_F64,
};

_Static_assert(NPY_SIZEOF_SHORT == 2 && NPY_SIZEOF_INT == 4 && NPY_SIZEOF_LONG == 8 &&
                   NPY_SIZEOF_LONGLONG == 8 && sizeof(npy_intp) == sizeof(int64_t),
               "sizes of types that go by C's names");

static inline uint8_t *find_dtype(PyArrayObject *array)
{
    static uint8_t none;
    size_t number = (size_t)PyArray_TYPE(array);
    return number < sizeof dtypes ? &dtypes[number] : &none;
}

void fpy_array_learn(PyObject *object, fer_dtype dtype)
{
    if (is_array(object) && PyArray_TYPE((PyArrayObject *)object) >= NPY_USERDEF)
        *find_dtype((PyArrayObject *)object) = (uint8_t)dtype;
}

/* Flags that say more than this are NumPy's own affair: one array warns when it is written. */
static bool can_be_used(PyArrayObject *array)
{
    enum { EITHER_WAY = NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE };
    return (PyArray_FLAGS(array) & ~EITHER_WAY) == NPY_ARRAY_CARRAY_RO &&
           PyArray_ISNOTSWAPPED(array);
}

bool fpy_array_lend(PyObject *object, fer_tensor **out_tensor)
{
    if (!is_array(object))
        return false;
    PyArrayObject *array = (PyArrayObject *)object;
    fer_dtype dtype = *find_dtype(array);
    return dtype != FER_DTYPE_INVALID && can_be_used(array) &&
           fer_tensor_borrow(dtype, (size_t)PyArray_NDIM(array), PyArray_DIMS(array),
                             PyArray_DATA(array), !PyArray_ISWRITEABLE(array), (fer_device){0},
                             NULL, NULL, out_tensor, NULL) == FER_OK;
}
