/* Memory of other objects as tensors: buffers and DLPack. Both become a struct of DLPack, and the
 * library judges and, where it has to, copies. */
#include "core.h"

#include <string.h>

#if PY_VERSION_HEX < 0x030D0000
#define Py_IsFinalizing _Py_IsFinalizing
#endif

/* --- What a buffer's elements are ------------------------------------------------------------- */

static fer_dtype of_kind(fer_dtype first, Py_ssize_t size)
{
    switch (size) {
    case 1:
        return first;
    case 2:
        return first + 1;
    case 4:
        return first + 2;
    case 8:
        return first + 3;
    default:
        return FER_DTYPE_INVALID;
    }
}

/* The codes of Python's struct module; the element's size tells native from standard ones. */
static fer_dtype of_code(char code, Py_ssize_t size)
{
    switch (code) {
    case '?':
        return size == 1 ? FER_BOOL : FER_DTYPE_INVALID;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
        return of_kind(FER_I8, size);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
        return of_kind(FER_U8, size);
    case 'e':
        return size == 2 ? FER_F16 : FER_DTYPE_INVALID;
    case 'f':
        return size == 4 ? FER_F32 : FER_DTYPE_INVALID;
    case 'd':
        return size == 8 ? FER_F64 : FER_DTYPE_INVALID;
    default:
        return FER_DTYPE_INVALID;
    }
}

static int read_format(const Py_buffer *view, fer_dtype *out_dtype)
{
    const char *format = view->format == NULL ? "B" : view->format;
    bool is_foreign = (*format == '>' || *format == '!') && view->itemsize > 1;
    if (*format == '@' || *format == '=' || *format == '<' || *format == '>' || *format == '!')
        format++;
    *out_dtype = FER_DTYPE_INVALID;
    if (format[0] != '\0' && format[1] == '\0' && !is_foreign)
        *out_dtype = of_code(*format, view->itemsize);
    if (*out_dtype != FER_DTYPE_INVALID)
        return 0;
    if (is_foreign && of_code(*format, view->itemsize) != FER_DTYPE_INVALID)
        PyErr_Format(PyExc_NotImplementedError,
                     "big-endian elements ('%s') are not supported; convert them, "
                     "x.astype(x.dtype.newbyteorder('='))",
                     view->format);
    else
        PyErr_Format(PyExc_NotImplementedError,
                     "elements of the buffer format '%s' are not supported", view->format);
    return -1;
}

/* NumPy gives no buffer of the dtypes that it only has from ml_dtypes, but their bits. */
static int get_bits(PyObject *object, fer_dtype *out_dtype, Py_buffer *view)
{
    static const fer_dtype SMALL[] = {FER_BF16, FER_F8E4M3FN, FER_F8E5M2};
    PyObject *exception = fpy_take_exception();
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *name = dtype == NULL ? NULL : PyObject_GetAttrString(dtype, "name");
    PyObject *bits = NULL;
    PyErr_Clear();
    for (size_t i = 0; name != NULL && PyUnicode_Check(name) && i < sizeof SMALL / sizeof *SMALL;
         i++)
        if (PyUnicode_CompareWithASCIIString(name, fer_dtype_long_name(SMALL[i])) == 0) {
            *out_dtype = SMALL[i];
            bits = PyObject_CallMethod(object, "view", "s",
                                       fer_dtype_bytes(SMALL[i]) == 1 ? "uint8" : "uint16");
        }
    PyErr_Clear();
    int result = -1;
    if (bits == NULL) {
        fpy_put_exception(exception);
    } else {
        Py_DECREF(exception);
        fpy_array_learn(object, *out_dtype);
        result = PyObject_GetBuffer(bits, view, PyBUF_STRIDES | PyBUF_FORMAT);
    }
    Py_XDECREF(bits);
    Py_XDECREF(name);
    Py_XDECREF(dtype);
    return result;
}

/* --- Buffers ---------------------------------------------------------------------------------- */

/* False: strides that no count of elements gives. */
static bool describe(fpy_buffer *buffer, fer_dtype dtype)
{
    const Py_buffer *view = &buffer->view;
    for (int i = 0; i < view->ndim && i < FER_MAX_RANK; i++) {
        buffer->strides[i] = view->strides[i] / view->itemsize;
        if (buffer->strides[i] * view->itemsize != view->strides[i] && view->shape[i] != 1 &&
            view->len != 0)
            return false;
    }
    buffer->managed = (fer_dl_managed_tensor_versioned){
        .version = {FER_DL_VERSION_MAJOR, FER_DL_VERSION_MINOR},
        .flags = view->readonly ? FER_DL_READ_ONLY : 0,
        .dl_tensor = {.data = view->buf,
                      .device = {.device_type = 1},
                      .ndim = view->ndim,
                      .dtype = {fer_dtype_dlpack_code(dtype), fer_dtype_dlpack_bits(dtype), 1},
                      .shape = (int64_t *)view->shape,
                      .strides = buffer->strides},
    };
    return true;
}

_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "a buffer's shape is used where it lies");

/* Elements that can be used as they lie, so that the library has no layout to judge. A buffer
 * without elements may be judged like one that is not. */
static bool is_compact(const Py_buffer *view)
{
    size_t stride = (size_t)view->itemsize; /* of an exporter's figures, which may overflow */
    if ((uintptr_t)view->buf % stride != 0 || view->ndim > FER_MAX_RANK)
        return false;
    for (int i = view->ndim; i-- > 0;) {
        if ((size_t)view->strides[i] != stride && view->shape[i] != 1)
            return false;
        stride *= (size_t)view->shape[i];
    }
    return true;
}

static int fail_sharing(void)
{
    PyErr_SetString(PyExc_ValueError,
                    "the memory is not compact row-major, and it has to be used in place here; "
                    "give a compact copy, and bring its elements back: "
                    "copy = numpy.ascontiguousarray(x), x[...] = copy");
    return -1;
}

/* Elements that lie at odd distances: Python copies them. */
static int copy_odd(const Py_buffer *view, fer_dtype dtype, fer_tensor **out_tensor)
{
    fer_error error = FER_ERROR_INIT;
    if (fer_tensor_empty(dtype, (size_t)view->ndim, (const int64_t *)view->shape, (fer_device){0},
                         out_tensor, &error) != FER_OK) {
        fpy_raise(&error);
        return -1;
    }
    if (PyBuffer_ToContiguous(fer_tensor_data(*out_tensor), view, view->len, 'C') == 0)
        return 0;
    fer_tensor_release(*out_tensor);
    return -1;
}

static const fer_dl_copy COPIES[] = {
    [FPY_COPY_IF_NEEDED] = FER_DL_COPY_IF_NEEDED,
    [FPY_SHARE] = FER_DL_COPY_NEVER,
    [FPY_COPY] = FER_DL_COPY_ALWAYS,
};

/* The view is there. 1: the struct was taken, and its deleter (or nobody) gives the view back. 0:
 * the tensor is a copy, made without it. -1. */
static int use_buffer(fpy_buffer *buffer, fer_dtype dtype, fpy_sharing sharing,
                      void (*deleter)(fer_dl_managed_tensor_versioned *), fer_tensor **out_tensor)
{
    fer_error error = FER_ERROR_INIT;
    if (dtype == FER_DTYPE_INVALID && read_format(&buffer->view, &dtype) < 0)
        return -1;
    if (sharing == FPY_SHARE && !PyBuffer_IsContiguous(&buffer->view, 'C'))
        return fail_sharing();
    if (!describe(buffer, dtype))
        return copy_odd(&buffer->view, dtype, out_tensor);
    buffer->managed.manager_ctx = buffer;
    buffer->managed.deleter = deleter;
    if (fer_tensor_from_dlpack_versioned(&buffer->managed, COPIES[sharing], out_tensor, &error) ==
        FER_OK)
        return 1;
    fpy_raise(&error);
    return -1;
}

/* The small float that only bits are there of, else FER_DTYPE_INVALID: the format tells. */
static int get_view(PyObject *object, Py_buffer *view, fer_dtype *out_dtype)
{
    *out_dtype = FER_DTYPE_INVALID;
    if (PyObject_GetBuffer(object, view, PyBUF_STRIDES | PyBUF_FORMAT) == 0)
        return 0;
    return get_bits(object, out_dtype, view);
}

/* Most calls of arrays come here, with compact elements. */
static int lend_view(fpy_loan *loan, fer_dtype dtype, fpy_sharing sharing)
{
    const Py_buffer *view = &loan->buffer.view;
    fer_error error = FER_ERROR_INIT;
    if (dtype == FER_DTYPE_INVALID && read_format(view, &dtype) < 0)
        return -1;
    if (!is_compact(view))
        return use_buffer(&loan->buffer, dtype, sharing, NULL, &loan->tensor);
    if (fer_tensor_borrow(dtype, (size_t)view->ndim, (const int64_t *)view->shape, view->buf,
                          view->readonly != 0, (fer_device){0}, NULL, NULL, &loan->tensor,
                          &error) == FER_OK)
        return 1;
    fpy_raise(&error);
    return -1;
}

static int lend_buffer(PyObject *object, fpy_sharing sharing, fpy_loan *loan)
{
    fer_dtype dtype;
    if (get_view(object, &loan->buffer.view, &dtype) < 0)
        return -1;
    loan->is_ours = true;
    loan->has_buffer = true;
    if (lend_view(loan, dtype, sharing) >= 0)
        return 1;
    PyBuffer_Release(&loan->buffer.view);
    return -1;
}

static void give_buffer_back(fer_dl_managed_tensor_versioned *managed)
{
    fpy_buffer *buffer = managed->manager_ctx;
    if (PyGILState_Check()) {
        PyBuffer_Release(&buffer->view);
    } else {
        if (!Py_IsInitialized() || Py_IsFinalizing())
            return; /* nobody is left to give it back to */
        PyGILState_STATE state = PyGILState_Ensure();
        PyBuffer_Release(&buffer->view);
        PyGILState_Release(state);
    }
    PyMem_RawFree(buffer);
}

/* The deleter is called at once when the import copies, and not at all when it fails. */
static int import_buffer(PyObject *object, fpy_sharing sharing, fer_tensor **out_tensor)
{
    fer_dtype dtype;
    fpy_buffer *buffer = PyMem_RawMalloc(sizeof *buffer);
    if (buffer == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (get_view(object, &buffer->view, &dtype) < 0) {
        PyMem_RawFree(buffer);
        return -1;
    }
    int used = use_buffer(buffer, dtype, sharing, give_buffer_back, out_tensor);
    if (used != 1) {
        PyBuffer_Release(&buffer->view);
        PyMem_RawFree(buffer);
    }
    return used < 0 ? -1 : 1;
}

/* --- DLPack ----------------------------------------------------------------------------------- */

static const char OLD[] = "dltensor";
static const char VERSIONED[] = "dltensor_versioned";

static int fail_capsule(const char *name)
{
    bool was_consumed =
        name != NULL && strncmp(name, "used_dltensor", strlen("used_dltensor")) == 0;
    PyErr_Format(PyExc_ValueError, "the capsule '%s' holds no DLPack tensor%s",
                 name == NULL ? "" : name, was_consumed ? " any more: it was consumed before" : "");
    return -1;
}

/* A consumed capsule is renamed, so that its destructor leaves what was taken, and so that it is
 * not consumed again, also not by its own deleter, which a copy calls at once. */
static int take_capsule(PyObject *capsule, fpy_sharing sharing, fer_tensor **out_tensor)
{
    const char *name = PyCapsule_GetName(capsule);
    bool is_versioned = name != NULL && strcmp(name, VERSIONED) == 0;
    if (!is_versioned && (name == NULL || strcmp(name, OLD) != 0))
        return fail_capsule(name);
    void *managed = PyCapsule_GetPointer(capsule, name);
    if (PyCapsule_SetName(capsule, is_versioned ? "used_dltensor_versioned" : "used_dltensor") < 0)
        return -1;
    fer_dl_copy copy = COPIES[sharing];
    fer_error error = FER_ERROR_INIT;
    fer_status status = is_versioned
                            ? fer_tensor_from_dlpack_versioned(managed, copy, out_tensor, &error)
                            : fer_tensor_from_dlpack(managed, copy, out_tensor, &error);
    if (status == FER_OK)
        return 1;
    (void)PyCapsule_SetName(capsule, is_versioned ? VERSIONED : OLD);
    fpy_raise(&error);
    return -1;
}

/* Older producers know no version to ask for. */
static PyObject *ask_for_capsule(PyObject *object)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *kwargs = method == NULL ? NULL
                                      : Py_BuildValue("{s(ii)}", "max_version",
                                                      FER_DL_VERSION_MAJOR, FER_DL_VERSION_MINOR);
    PyObject *capsule = kwargs == NULL ? NULL : PyObject_VectorcallDict(method, NULL, 0, kwargs);
    if (kwargs != NULL && capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method);
    }
    Py_XDECREF(kwargs);
    Py_XDECREF(method);
    return capsule;
}

static int import_dlpack(PyObject *object, fpy_sharing sharing, fer_tensor **out_tensor)
{
    PyObject *capsule = ask_for_capsule(object);
    if (capsule == NULL)
        return -1;
    int result = -1;
    if (PyCapsule_CheckExact(capsule))
        result = take_capsule(capsule, sharing, out_tensor);
    else
        PyErr_Format(PyExc_TypeError, "%s.__dlpack__() gave %s, not a capsule",
                     Py_TYPE(object)->tp_name, Py_TYPE(capsule)->tp_name);
    Py_DECREF(capsule);
    return result;
}

/* The object lives as long as the loan, so nobody has to give anything back. 1: lent. 0: its class
 * has no such way. -1. */
static int lend_described(PyObject *object, fpy_sharing sharing, fpy_loan *loan)
{
    fer_error error = FER_ERROR_INIT;
    fer_dl_managed_tensor_versioned *managed = &loan->buffer.managed;
    if (!fpy_exchange_describe(object, &managed->dl_tensor))
        return 0;
    managed->version = (fer_dl_version){FER_DL_VERSION_MAJOR, FER_DL_VERSION_MINOR};
    managed->flags = 0;
    managed->deleter = NULL;
    if (fer_tensor_from_dlpack_versioned(managed, COPIES[sharing], &loan->tensor, &error) == FER_OK)
        return 1;
    fpy_raise(&error);
    return -1;
}

/* --- Either ----------------------------------------------------------------------------------- */

static bool has_dlpack(PyObject *object)
{
    return PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__dlpack__") != 0;
}

bool fpy_lend_at_once(PyObject *object, fpy_loan *out_loan)
{
    out_loan->has_buffer = false;
    out_loan->is_ours = false;
    out_loan->array = NULL;
    if (fpy_is_tensor(object)) {
        out_loan->tensor = ((fpy_tensor *)object)->tensor;
        return true;
    }
    if (!fpy_array_lend(object, &out_loan->tensor))
        return false;
    out_loan->is_ours = true;
    out_loan->array = Py_NewRef(object);
    return true;
}

int fpy_lend(PyObject *object, fpy_sharing sharing, fpy_loan *out_loan)
{
    if (fpy_lend_at_once(object, out_loan))
        return 1;
    if (PyObject_CheckBuffer(object))
        return lend_buffer(object, sharing, out_loan);
    int lent = lend_described(object, sharing, out_loan);
    if (lent == 0 && has_dlpack(object))
        lent = import_dlpack(object, sharing, &out_loan->tensor);
    out_loan->is_ours = lent == 1;
    return lent;
}

void fpy_end_loan(fpy_loan *loan)
{
    if (loan->is_ours)
        fpy_tensor_release(loan->tensor);
    if (loan->has_buffer)
        PyBuffer_Release(&loan->buffer.view);
    Py_XDECREF(loan->array);
}

static int import_tensor(PyObject *object, fpy_sharing sharing, fer_tensor **out_tensor)
{
    fer_tensor *tensor = ((fpy_tensor *)object)->tensor;
    fer_error error = FER_ERROR_INIT;
    if (sharing != FPY_COPY)
        *out_tensor = fer_tensor_retain(tensor);
    else if (fer_tensor_clone(tensor, fer_tensor_device(tensor), out_tensor, &error) != FER_OK)
        fpy_raise(&error);
    return *out_tensor == NULL ? -1 : 1;
}

int fpy_import(PyObject *object, fpy_sharing sharing, fer_tensor **out_tensor)
{
    *out_tensor = NULL;
    if (fpy_is_tensor(object))
        return import_tensor(object, sharing, out_tensor);
    if (PyCapsule_CheckExact(object))
        return take_capsule(object, sharing, out_tensor);
    if (PyObject_CheckBuffer(object))
        return import_buffer(object, sharing, out_tensor);
    return has_dlpack(object) ? import_dlpack(object, sharing, out_tensor) : 0;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

int fpy_number_from(PyObject *object, fer_number *out_number)
{
    if (PyFloat_Check(object)) {
        *out_number =
            (fer_number){.kind = FER_NUMBER_FLOAT, .value.as_float = PyFloat_AS_DOUBLE(object)};
        return 1;
    }
    if (PyBool_Check(object)) {
        *out_number = (fer_number){.kind = FER_NUMBER_BOOL, .value.as_bool = object == Py_True};
        return 1;
    }
    if (!PyLong_Check(object))
        return 0;
    int overflow;
    *out_number = (fer_number){.kind = FER_NUMBER_INT,
                               .value.as_int = PyLong_AsLongLongAndOverflow(object, &overflow)};
    if (overflow > 0)
        *out_number = (fer_number){.kind = FER_NUMBER_UINT,
                                   .value.as_uint = PyLong_AsUnsignedLongLong(object)};
    else if (overflow < 0)
        PyErr_SetString(PyExc_OverflowError, "the integer is below what 64 bits hold");
    return overflow != 0 && PyErr_Occurred() != NULL ? -1 : 1;
}
