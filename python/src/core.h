/* The inside of the extension module `ferrule._core`: Python objects over the public C API.
 *
 * Each object holds one reference to its C object and is immutable like it, except for the elements
 * of tensors and for graphs under construction, which the GIL guards. Functions that return an
 * object or an int set a Python exception when they return NULL or -1.
 */
#ifndef FERRULE_PYTHON_CORE_H
#define FERRULE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ferrule/ferrule.h>

/* --- Objects ---------------------------------------------------------------------------------- */

/* What every object begins with, so that it can be referred to weakly. */
typedef struct fpy_object {
    PyObject_HEAD PyObject *weak_references;
} fpy_object;

#define FPY_OBJECT_HEAD PyObject_HEAD PyObject *weak_references;

/* Of a class of ours, without the rest of its members. */
static inline void *fpy_new(PyTypeObject *class)
{
    fpy_object *self = PyObject_New(fpy_object, class);
    if (self != NULL)
        self->weak_references = NULL;
    return self;
}

/* The first thing that an object's end does. */
static inline void fpy_forget(PyObject *self)
{
    if (((fpy_object *)self)->weak_references != NULL)
        PyObject_ClearWeakRefs(self);
}

typedef struct fpy_dtype {
    FPY_OBJECT_HEAD fer_dtype dtype;
} fpy_dtype;

typedef struct fpy_device {
    FPY_OBJECT_HEAD fer_device device;
} fpy_device;

typedef struct fpy_dim {
    FPY_OBJECT_HEAD fer_dim *dim;
} fpy_dim;

typedef struct fpy_type {
    FPY_OBJECT_HEAD fer_type *type;
} fpy_type;

typedef struct fpy_tensor {
    FPY_OBJECT_HEAD fer_tensor *tensor;
} fpy_tensor;

typedef struct fpy_graph {
    FPY_OBJECT_HEAD fer_module *module;
    fer_graph *graph; /* the module's */
    PyObject *names;  /* a tuple of the inputs' names */
} fpy_graph;

typedef struct fpy_value {
    FPY_OBJECT_HEAD fpy_graph *graph;
    fer_value *value; /* the graph's */
} fpy_value;

/* Which calls of an op or a model keep the GIL: see call.c. One choice of operand dtypes. */
typedef struct fpy_pace {
    uint64_t dtypes;      /* 4 bits for each operand; 0: none yet */
    size_t quick_end;     /* operands of fewer bytes than this have been quick */
    unsigned until_timed; /* calls until one is timed again */
} fpy_pace;

#define FPY_NUM_PACES 4

typedef struct fpy_op {
    FPY_OBJECT_HEAD vectorcallfunc vectorcall;
    fer_op *op;
    size_t num_operands;
    size_t num_results;
    uint32_t inout; /* a bit for each operand that is */
    bool takes_out; /* no operand is called `out` */
    fpy_pace paces[FPY_NUM_PACES];
    PyObject *source;     /* of an op declared with source text, else NULL */
    PyObject *attributes; /* what was computed on demand, by name */
} fpy_op;

extern PyTypeObject fpy_class_dtype;
extern PyTypeObject fpy_class_device;
extern PyTypeObject fpy_class_dim;
extern PyTypeObject fpy_class_symbol;
extern PyTypeObject fpy_class_param;
extern PyTypeObject fpy_class_type;
extern PyTypeObject fpy_class_buffer_type;
extern PyTypeObject fpy_class_dtype_var;
extern PyTypeObject fpy_class_run;
extern PyTypeObject fpy_class_template;
extern PyTypeObject fpy_class_tensor;
extern PyTypeObject fpy_class_op;
extern PyTypeObject fpy_class_graph;
extern PyTypeObject fpy_class_value;
extern PyTypeObject fpy_class_model;

static inline bool fpy_is_tensor(PyObject *object)
{
    return Py_IS_TYPE(object, &fpy_class_tensor);
}

/* Each file's part of the module: readies its classes and adds its names. */
int fpy_add_errors(PyObject *module);
int fpy_add_dtypes(PyObject *module);
int fpy_add_dims(PyObject *module);
int fpy_add_types(PyObject *module);
int fpy_add_templates(PyObject *module);
int fpy_add_tensors(PyObject *module);
int fpy_add_ops(PyObject *module);
int fpy_add_graphs(PyObject *module);
int fpy_add_models(PyObject *module);

/* Readies a class and adds it under the last part of its name. */
int fpy_add_class(PyObject *module, PyTypeObject *class);

/* --- Errors ----------------------------------------------------------------------------------- */

/* Raises what the error says, as the exception of its kind with the members that are there as
 * attributes, and clears the error. Returns NULL. */
PyObject *fpy_raise(fer_error *error);
/* The same with more at the message's end. */
PyObject *fpy_raise_with_advice(fer_error *error, const char *advice);
/* The same after work that a signal may have ended: what the signal's handler raises goes first. */
PyObject *fpy_raise_interrupted(fer_error *error);

/* Lets the GIL go and takes it back. While a compiler or a model's loop runs in between, on the
 * main thread, signals are handled; what a handler raises ends the compiler or the run, and stays
 * pending. */
void fpy_let_go(void);
void fpy_take_back(void);
/* Tells the library of the above. */
void fpy_watch_signals(void);

/* Has the library tell what it compiles. */
void fpy_watch_compiles(void);
/* With the GIL, on the thread that waits: shows how far it is, and ends that when it is over. What
 * a signal's handler raises meanwhile stays pending. */
void fpy_show_progress(void);
void fpy_end_progress(void);
/* What is compiled from here on this thread is for a model of the graph, which has to live. */
void fpy_begin_graph(const fer_graph *graph);
void fpy_end_graph(void);

/* The pending exception, which there is, taken and put back. */
PyObject *fpy_take_exception(void);
void fpy_put_exception(PyObject *exception);

/* Puts `op: PLACE: ` before the message of a pending exception that a conversion raised. */
void fpy_name_place(const char *op, const char *place);

/* Text of the library: UTF-8, or what can be shown of it. */
PyObject *fpy_text(const char *text);
/* Of a text of the library's, which is freed, without the line's end. */
PyObject *fpy_printed(char *text);
/* Text for the library, of a str that the caller keeps; `what` says in messages what it is. NULL:
 * TypeError, or ValueError for a 0 in it. */
const char *fpy_c_text(PyObject *object, const char *what);

/* --- What is given as a sequence or a mapping ------------------------------------------------- */

/* Its items as a tuple: code of theirs that runs while they are read may change a list. A str is no
 * sequence here. NULL: TypeError, which `what` says. */
PyObject *fpy_items(PyObject *sequence, const char *what);
/* A mapping's items as a list of pairs, whatever its own `items` gives. */
PyObject *fpy_pairs(PyObject *mapping);

/* --- Dtypes, devices, dims, types ------------------------------------------------------------- */

PyObject *fpy_dtype_object(fer_dtype dtype);
/* A DType, or a dtype of NumPy's or a class of its scalars. 1; 0 when it is none; -1. */
int fpy_dtype_of(PyObject *object, fer_dtype *out_dtype);
/* The same, or a dtype's name. 0 or -1. */
int fpy_dtype_from(PyObject *object, fer_dtype *out_dtype);
/* The dtype as NumPy has it; ImportError that says what to install. */
PyObject *fpy_dtype_numpy(fer_dtype dtype);

PyObject *fpy_device_object(fer_device device);
/* A DeviceRef, or None for device 0. 0 or -1. */
int fpy_device_from(PyObject *object, fer_device *out_device);

/* Takes the dim; of the class that fits it. */
PyObject *fpy_dim_object(fer_dim *dim);
/* A Dim, an integer, or a caller's dim as text; the caller releases it. 0 or -1. */
int fpy_dim_from(PyObject *object, fer_dim **out_dim);
/* A tuple of dims; the caller clears it with fpy_dims_clear. Counts above `capacity` are counted
 * and not stored. */
int fpy_dims_from(PyObject *shape, fer_dim **dims, size_t capacity, size_t *out_rank);
void fpy_dims_clear(fer_dim **dims, size_t num_dims);

/* Takes the type. */
PyObject *fpy_type_object(fer_type *type);
/* A TensorType, or of a buffer a BufferType. */
PyObject *fpy_value_type_object(const fer_value *value);
/* The dims of a type as a tuple. */
PyObject *fpy_type_shape(const fer_type *type);

/* --- Templates and signatures ----------------------------------------------------------------- */

/* What a signature of C says, as Python objects. */
PyObject *fpy_template_object(const fer_signature_spec *spec, const fer_template *type);
PyObject *fpy_param_value(const fer_param *param);
/* A parameter of a Python value. `may_lack_value`: None and the kinds' classes are parameters
 * without one. 0 or -1. */
int fpy_param_from(PyObject *name, PyObject *value, bool may_lack_value, fer_param *out_param);

/* The class's members, borrowed. */
PyObject *fpy_template_dtype(PyObject *template);
PyObject *fpy_template_axes(PyObject *template); /* a tuple of Dim and Run */
PyObject *fpy_name_of(PyObject *variable_or_run);
uint32_t fpy_dtype_var_allowed(PyObject *variable);

/* A declaration in structs, of Python's objects; all that it points to lives until it is cleared.
 */
typedef struct fpy_declaration fpy_declaration;
fpy_declaration *fpy_declaration_create(PyObject *name, PyObject *inputs, PyObject *outputs,
                                        PyObject *parameters, PyObject *where, PyObject *inout,
                                        int has_effect);
const fer_signature_spec *fpy_declaration_spec(const fpy_declaration *declaration);
void fpy_declaration_free(fpy_declaration *declaration);

/* --- Tensors ---------------------------------------------------------------------------------- */

/* Takes the tensor. */
PyObject *fpy_tensor_object(fer_tensor *tensor);
/* Its memory's owner may run code of Python, which a pending exception survives. */
void fpy_tensor_release(fer_tensor *tensor);

/* A buffer's elements as a struct of DLPack. */
typedef struct fpy_buffer {
    Py_buffer view;
    int64_t strides[FER_MAX_RANK];
    fer_dl_managed_tensor_versioned managed; /* points into the buffer itself */
} fpy_buffer;

/* A tensor over memory of a Python object, for the time of a call. */
typedef struct fpy_loan {
    fer_tensor *tensor;
    bool is_ours;    /* the tensor is to be released */
    bool has_buffer; /* and then `buffer` too */
    PyObject *array; /* and a reference to it, or NULL */
    fpy_buffer buffer;
} fpy_loan;

typedef enum fpy_sharing {
    FPY_COPY_IF_NEEDED, /* by each call that needs compact elements */
    FPY_SHARE,          /* refused unless the memory itself can be used */
    FPY_COPY            /* always */
} fpy_sharing;

/* 1: lent. 0: the object is nothing that has elements. -1: an exception. */
int fpy_lend(PyObject *object, fpy_sharing sharing, fpy_loan *out_loan);
/* What a look is enough for: a tensor, or an array as for fpy_array_lend. */
bool fpy_lend_at_once(PyObject *object, fpy_loan *out_loan);
void fpy_end_loan(fpy_loan *loan);

/* Readies what the next one needs. 0 or -1. */
int fpy_ready_exchange(void);
/* What an object's class says of it in C; its memory is the object's and goes with it. False,
 * without an exception: it says nothing, and `__dlpack__` is to be asked, also for what is wrong.
 */
bool fpy_exchange_describe(PyObject *object, fer_dl_tensor *out_tensor);

/* Over an array of NumPy's whose elements can be used as they lie. False, without an exception:
 * anything else. The object's shape may change later, its memory only when nobody holds it. */
bool fpy_array_lend(PyObject *object, fer_tensor **out_tensor);
/* The dtype of the object's elements, should it be an array and its type one that NumPy was given.
 */
void fpy_array_learn(PyObject *object, fer_dtype dtype);

/* A tensor that keeps the object as long as it needs its memory. The same answers. */
int fpy_import(PyObject *object, fpy_sharing sharing, fer_tensor **out_tensor);

/* A plain number; 0 when the object is none. -1: an integer beyond 64 bits. */
int fpy_number_from(PyObject *object, fer_number *out_number);
/* The same of another library's number too, as what Python makes of it; -1 when it is none. */
int fpy_any_number_from(PyObject *object, fer_number *out_number);

extern PyBufferProcs fpy_tensor_as_buffer;
extern PyMappingMethods fpy_tensor_as_mapping;
extern PySequenceMethods fpy_tensor_as_sequence;
extern PyMappingMethods fpy_value_as_mapping;
extern PyNumberMethods fpy_operators;
PyObject *fpy_compare(PyObject *a, PyObject *b, int comparison);
/* Lets our operators go before those of NumPy's arrays and numbers on the left. Its functions take
 * tensors, and refuse graph values, which have no elements. */
int fpy_precede_numpy(void);

/* Adds the methods that give other shapes to the classes of tensors and of graph values. */
int fpy_add_shapes(void);

/* A copy of that shape, by NumPy's rules of broadcasting. */
PyObject *fpy_tensor_broadcast(PyObject *self, PyObject *shape);
PyObject *fpy_tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *fpy_tensor_dlpack_device(PyObject *self, PyObject *unused);
PyObject *fpy_tensor_item(PyObject *self, PyObject *unused);
PyObject *fpy_tensor_tolist(PyObject *self, PyObject *unused);
PyObject *fpy_tensor_numpy(PyObject *self, PyObject *unused);
PyObject *fpy_tensor_array(PyObject *self, PyObject *args, PyObject *kwargs);
/* A tensor of numbers in nested sequences. */
PyObject *fpy_tensor_from_sequence(PyObject *data, fer_dtype dtype, fer_device device);
/* A tuple of extents. */
PyObject *fpy_extents(const int64_t *extents, size_t rank);
/* Extents of a shape that is an integer or a sequence of them. 0 or -1. */
int fpy_extents_from(PyObject *shape, int64_t *extents, size_t *out_rank);

/* --- Ops, graphs, models ---------------------------------------------------------------------- */

/* Readies what the next one needs. 0 or -1. */
int fpy_ready_calls(void);
PyObject *fpy_op_call(PyObject *self, PyObject *const *arguments, size_t num_flagged,
                      PyObject *keywords);

/* Takes the tensors: one comes bare, several as a list, none as None. */
PyObject *fpy_wrap_tensors(fer_tensor *const *tensors, size_t num_tensors);

PyObject *fpy_value_object(fpy_graph *graph, fer_value *value);
/* The end of a message: how something else becomes a value of a graph. */
const char *fpy_value_hint(PyObject *object);
/* An exception of that class has left the building of a graph that is not finished. */
void fpy_abandon(fpy_graph *graph, PyObject *exception);
PyObject *fpy_graph_cond(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *fpy_graph_while_loop(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *fpy_graph_call(PyObject *self, PyObject *const *given, Py_ssize_t count);
PyObject *fpy_graph_read(PyObject *unused, PyObject *args, PyObject *kwargs);
PyObject *fpy_graph_write(PyObject *self, PyObject *path);
PyObject *fpy_model_create(fpy_graph *graph, const char *executor);

extern bool fpy_is_checking; /* since set_checking said so */

/* Runs `work` with or without the GIL, as what was seen of calls of this size and these dtypes
 * says. */
typedef fer_status (*fpy_work)(void *context, fer_error *error);
fer_status fpy_run_paced(fpy_pace *paces, uint64_t dtypes, size_t num_bytes, fpy_work work,
                         void *context, fer_error *error);

#endif
