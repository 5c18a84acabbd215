/* Calls of ops. Positional tensors go straight to the library; anything else is first made a list
 * of arguments, numbers and keywords included, which the library binds.
 *
 * Whether a call keeps the GIL. Letting it go and taking it back costs about 50 ns, a quarter of a
 * call of a tiny op, and a kernel that keeps it stops every other thread of Python. Nothing says
 * beforehand how long a kernel takes, so it is measured: a call with more bytes of operands than
 * were quick before, or with dtypes that were not seen before (which may compile), runs without the
 * GIL and by the clock; from then on as many bytes of these dtypes keep it. Every 256th such call
 * is measured again, for kernels whose time is in their data. While calls are checked none keeps
 * it: that may compile once more. */
#include "core.h"

#include <string.h>
#include <time.h>

bool fpy_is_checking;

enum { QUICK_NS = 5000, CALLS_BETWEEN = 256 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void learn(fpy_pace *pace, uint64_t dtypes, size_t num_bytes, uint64_t took_ns)
{
    bool is_known = pace->dtypes == dtypes;
    pace->until_timed = CALLS_BETWEEN;
    if (took_ns <= QUICK_NS && (!is_known || num_bytes >= pace->quick_end))
        pace->quick_end = num_bytes + 1;
    else if (took_ns > QUICK_NS && (!is_known || num_bytes < pace->quick_end))
        pace->quick_end = is_known ? num_bytes : 0;
    pace->dtypes = dtypes;
}

fer_status fpy_run_paced(fpy_pace *paces, uint64_t dtypes, size_t num_bytes, fpy_work work,
                         void *context, fer_error *error)
{
    fpy_pace *pace = &paces[(dtypes * 0x9E3779B97F4A7C15u) >> 62];
    if (pace->dtypes == dtypes && num_bytes < pace->quick_end && --pace->until_timed > 0 &&
        !fpy_is_checking)
        return work(context, error);
    fpy_let_go();
    uint64_t start = now_ns();
    fer_status status = work(context, error);
    uint64_t took_ns = now_ns() - start;
    fpy_take_back();
    learn(pace, dtypes, num_bytes, took_ns);
    return status;
}

_Static_assert(FPY_NUM_PACES == 4, "two bits of the product choose one");

/* --- Tensors ---------------------------------------------------------------------------------- */

typedef struct tensor_call {
    const fpy_op *op;
    fer_tensor *const *operands;
    fer_tensor **results;
    size_t num_results;
    bool are_given; /* the results are there */
} tensor_call;

static fer_status call_tensors(void *context, fer_error *error)
{
    const tensor_call *call = context;
    if (call->are_given)
        return fer_call_into(call->op->op, call->operands, call->op->num_operands, call->results,
                             call->num_results, error);
    return fer_call(call->op->op, call->operands, call->op->num_operands, call->results,
                    call->num_results, error);
}

static inline fer_status run_tensors(fpy_op *op, tensor_call *call, fer_error *error)
{
    uint64_t dtypes = 0;
    size_t num_bytes = 0;
    for (size_t i = 0; i < op->num_operands; i++) {
        dtypes = dtypes << 4 | (uint64_t)fer_tensor_dtype(call->operands[i]);
        num_bytes += fer_tensor_num_bytes(call->operands[i]);
    }
    return fpy_run_paced(op->paces, dtypes, num_bytes, call_tensors, call, error);
}

PyObject *fpy_wrap_tensors(fer_tensor *const *tensors, size_t num_tensors)
{
    if (num_tensors == 1)
        return fpy_tensor_object(tensors[0]);
    if (num_tensors == 0)
        Py_RETURN_NONE;
    PyObject *list = PyList_New((Py_ssize_t)num_tensors);
    for (size_t i = 0; i < num_tensors; i++) {
        PyObject *tensor = NULL;
        if (list == NULL)
            fer_tensor_release(tensors[i]);
        else if ((tensor = fpy_tensor_object(tensors[i])) == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, tensor);
    }
    return list;
}

/* --- Anything else ---------------------------------------------------------------------------- */

enum { TYPE_NAME = 64 };

typedef struct arguments {
    fpy_op *op;
    size_t count;
    bool has_value;
    bool is_plain; /* tensors by position, as many as there are operands */
    fpy_graph *graph;
    fer_argument list[FER_MAX_OPERANDS];
    char type_names[FER_MAX_OPERANDS][TYPE_NAME];
    size_t num_loans;
    fpy_loan *loans;    /* of operands and given results */
    size_t num_results; /* that are given */
    fer_tensor *results[FER_MAX_OPERANDS];
} arguments;

/* Which operand it is for, or -1 for what the library will refuse. */
static int find_operand(const fpy_op *op, size_t index, const char *keyword)
{
    if (keyword == NULL)
        return index < op->num_operands ? (int)index : -1;
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(op->op));
    for (size_t i = 0; i < spec->num_operands; i++)
        if (strcmp(spec->operands[i].name, keyword) == 0)
            return (int)i;
    return -1;
}

static int fail_operand(const fpy_op *op, int operand)
{
    char place[FER_MAX_OPERANDS + 240];
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(op->op));
    PyOS_snprintf(place, sizeof place, "operand '%.200s'",
                  operand < 0 ? "" : spec->operands[operand].name);
    fpy_name_place(fer_op_name(op->op), operand < 0 ? "an argument" : place);
    return -1;
}

static int add_loan(arguments *a, fer_argument *argument)
{
    argument->kind = FER_ARGUMENT_TENSOR;
    argument->as.tensor = a->loans[a->num_loans++].tensor;
    return 0;
}

static int add_memory(arguments *a, PyObject *object, int operand, fer_argument *argument)
{
    bool is_inout = operand >= 0 && (a->op->inout >> operand & 1) != 0;
    fpy_sharing sharing = is_inout ? FPY_SHARE : FPY_COPY_IF_NEEDED;
    int lent = fpy_lend(object, sharing, &a->loans[a->num_loans]);
    if (lent < 0)
        return fail_operand(a->op, operand);
    if (lent == 1)
        return add_loan(a, argument);
    char *name = a->type_names[argument - a->list];
    PyOS_snprintf(name, TYPE_NAME, object == Py_None ? "None" : "of type '%.40s'",
                  Py_TYPE(object)->tp_name);
    argument->kind = FER_ARGUMENT_OTHER;
    argument->as.type_name = name;
    return 0;
}

/* numpy.float64 is a float of Python too; where no number may stand it is an array of rank 0. */
static bool is_array(const fpy_op *op, PyObject *object, int operand)
{
    return !PyFloat_CheckExact(object) && operand >= 0 && PyObject_CheckBuffer(object) &&
           fer_signature_folded(fer_op_signature(op->op))->operands[operand].type.num_axes > 0;
}

static int add_argument(arguments *a, PyObject *object, const char *keyword)
{
    fer_argument *argument = &a->list[a->count];
    int operand = find_operand(a->op, a->count, keyword);
    a->count++;
    *argument = (fer_argument){.keyword = keyword};
    a->is_plain &= keyword == NULL;
    if (fpy_lend_at_once(object, &a->loans[a->num_loans]))
        return add_loan(a, argument);
    if (Py_IS_TYPE(object, &fpy_class_value)) {
        a->has_value = true;
        a->graph = ((fpy_value *)object)->graph;
        argument->kind = FER_ARGUMENT_VALUE;
        argument->as.value = ((fpy_value *)object)->value;
        return 0;
    }
    int is_number = fpy_number_from(object, &argument->as.number);
    if (is_number < 0)
        return fail_operand(a->op, operand);
    if (is_number == 1 && !is_array(a->op, object, operand)) {
        argument->kind = FER_ARGUMENT_NUMBER;
        a->is_plain = false;
        return 0;
    }
    if (add_memory(a, object, operand, argument) < 0)
        return -1;
    a->is_plain &= argument->kind == FER_ARGUMENT_TENSOR;
    return 0;
}

static int add_result(arguments *a, PyObject *object)
{
    const char *name = fer_op_name(a->op->op);
    if (a->num_results == FER_MAX_OPERANDS) {
        PyErr_Format(PyExc_TypeError, "%s: out has more tensors than an op can have results", name);
        return -1;
    }
    fpy_loan *loan = &a->loans[a->num_loans];
    int lent = fpy_lend(object, FPY_SHARE, loan);
    if (lent == 0)
        PyErr_Format(PyExc_TypeError, "%s: out is of type '%.100s', not a tensor", name,
                     Py_TYPE(object)->tp_name);
    else if (lent < 0)
        fpy_name_place(name, "out");
    if (lent != 1)
        return -1;
    a->num_loans++;
    a->results[a->num_results++] = loan->tensor;
    return 0;
}

/* One result is given bare, any other number of them as a tuple. */
static int add_results(arguments *a, PyObject *out)
{
    if (!PyTuple_Check(out))
        return add_result(a, out);
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(out); i++)
        result = add_result(a, PyTuple_GET_ITEM(out, i));
    return result;
}

/* What a call gives beside its positional arguments. */
typedef struct named_arguments {
    PyObject *keywords; /* a tuple of names, or NULL */
    PyObject *const *values;
    Py_ssize_t out; /* which of them is `out`, or -1 */
} named_arguments;

static int read_keywords(arguments *a, const named_arguments *named)
{
    Py_ssize_t count = named->keywords == NULL ? 0 : PyTuple_GET_SIZE(named->keywords);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i == named->out)
            continue;
        const char *keyword = fpy_c_text(PyTuple_GET_ITEM(named->keywords, i), "an operand's name");
        if (keyword == NULL || add_argument(a, named->values[i], keyword) < 0)
            return -1;
    }
    return 0;
}

static int read_arguments(arguments *a, PyObject *const *given, size_t num_positional,
                          const named_arguments *named, PyObject *out)
{
    size_t num_keywords = named->keywords == NULL ? 0 : (size_t)PyTuple_GET_SIZE(named->keywords);
    size_t count = num_positional + num_keywords - (named->out >= 0);
    if (count > FER_MAX_OPERANDS) {
        PyErr_Format(PyExc_TypeError, "%s: expected %zu operand%s, got %zu", fer_op_name(a->op->op),
                     a->op->num_operands, a->op->num_operands == 1 ? "" : "s", count);
        return -1;
    }
    for (size_t i = 0; i < num_positional; i++)
        if (add_argument(a, given[i], NULL) < 0)
            return -1;
    if (read_keywords(a, named) < 0)
        return -1;
    a->is_plain &= a->count == a->op->num_operands && !a->has_value;
    return out == NULL ? 0 : add_results(a, out);
}

static PyObject *wrap_values(fpy_graph *graph, const fer_argument *results, size_t num_results)
{
    if (num_results == 1)
        return fpy_value_object(graph, results[0].as.value);
    if (num_results == 0)
        Py_RETURN_NONE;
    PyObject *list = PyList_New((Py_ssize_t)num_results);
    for (size_t i = 0; list != NULL && i < num_results; i++) {
        PyObject *value = fpy_value_object(graph, results[i].as.value);
        if (value == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, value);
    }
    return list;
}

/* Lists are what people try first where a tensor is wanted. */
static PyObject *raise_refusal(const arguments *a, fer_error *error)
{
    const char *actual = error->actual == NULL ? "" : error->actual;
    bool is_sequence =
        strcmp(actual, "of type 'list'") == 0 || strcmp(actual, "of type 'tuple'") == 0;
    if (error->kind != FER_TYPE_ERROR || !is_sequence)
        return fpy_raise_interrupted(error);
    return fpy_raise_with_advice(error, a->has_value
                                            ? "; graph.constant([...]) makes a value of numbers"
                                            : "; ferrule.Tensor([...]) makes one of numbers");
}

/* A graph under construction is guarded by the GIL, so values are staged with it; eager calls that
 * come here have numbers or keywords, and let it go. */
static PyObject *apply(arguments *a)
{
    fer_argument results[FER_MAX_OPERANDS];
    fer_error error = FER_ERROR_INIT;
    size_t num_results = a->op->num_results;
    if (!a->has_value)
        fpy_let_go();
    fer_status status = fer_apply(a->op->op, a->list, a->count, results, num_results, &error);
    if (!a->has_value)
        fpy_take_back();
    if (status != FER_OK)
        return raise_refusal(a, &error);
    if (a->has_value)
        return wrap_values(a->graph, results, num_results);
    fer_tensor *tensors[FER_MAX_OPERANDS];
    for (size_t i = 0; i < num_results; i++)
        tensors[i] = results[i].as.tensor;
    return fpy_wrap_tensors(tensors, num_results);
}

static PyObject *apply_into(arguments *a, PyObject *out)
{
    fer_error error = FER_ERROR_INIT;
    if (!a->has_value)
        fpy_let_go();
    fer_status status =
        fer_apply_into(a->op->op, a->list, a->count, a->results, a->num_results, &error);
    if (!a->has_value)
        fpy_take_back();
    return status == FER_OK ? Py_NewRef(out) : raise_refusal(a, &error);
}

static PyObject *call_plain(arguments *a, PyObject *out)
{
    fer_tensor *operands[FER_MAX_OPERANDS];
    fer_tensor *results[FER_MAX_OPERANDS];
    fer_error error = FER_ERROR_INIT;
    for (size_t i = 0; i < a->count; i++)
        operands[i] = a->list[i].as.tensor;
    tensor_call call = {.op = a->op,
                        .operands = operands,
                        .results = out == NULL ? results : a->results,
                        .num_results = out == NULL ? a->op->num_results : a->num_results,
                        .are_given = out != NULL};
    if (run_tensors(a->op, &call, &error) != FER_OK)
        return fpy_raise_interrupted(&error);
    return out == NULL ? fpy_wrap_tensors(results, call.num_results) : Py_NewRef(out);
}

/* Loans are large, and an object's `__dlpack__` may call the op again, to Python's limit of
 * recursion: a few are on the stack, more are not. */
enum { FEW_LOANS = 4 };

static size_t count_loans(size_t num_positional, const named_arguments *named, PyObject *out)
{
    size_t num_named = named->keywords == NULL ? 0 : (size_t)PyTuple_GET_SIZE(named->keywords);
    size_t num_results = out != NULL && PyTuple_Check(out) ? (size_t)PyTuple_GET_SIZE(out) : 1;
    size_t most = (size_t)2 * FER_MAX_OPERANDS; /* beyond that the call is refused */
    size_t count = num_positional + num_named + num_results;
    return count < most ? count : most;
}

/* `held` is what `out` holds, NULL when none is given. The struct is large, and only what is
 * counted in it is read. */
static Py_NO_INLINE PyObject *call_holding(fpy_op *op, PyObject *const *given,
                                           size_t num_positional, const named_arguments *named,
                                           PyObject *out, PyObject *held)
{
    arguments a;
    fpy_loan few[FEW_LOANS];
    size_t most_loans = count_loans(num_positional, named, held);
    a.op = op;
    a.count = a.num_loans = a.num_results = 0;
    a.has_value = false;
    a.is_plain = true;
    a.loans = most_loans <= FEW_LOANS ? few : PyMem_Malloc(most_loans * sizeof *a.loans);
    if (a.loans == NULL)
        return PyErr_NoMemory();
    PyObject *result = NULL;
    if (read_arguments(&a, given, num_positional, named, held) == 0) {
        if (a.is_plain)
            result = call_plain(&a, out);
        else
            result = out == NULL ? apply(&a) : apply_into(&a, out);
    }
    for (size_t i = 0; i < a.num_loans; i++)
        fpy_end_loan(&a.loans[i]);
    if (a.loans != few)
        PyMem_Free(a.loans);
    return result;
}

/* A list of results may change while the call runs, so a tuple of them is held. */
static PyObject *call_any(fpy_op *op, PyObject *const *given, size_t num_positional,
                          const named_arguments *named, PyObject *out)
{
    if (out == NULL || !PyList_Check(out))
        return call_holding(op, given, num_positional, named, out, out);
    PyObject *held = PyList_AsTuple(out);
    PyObject *result =
        held == NULL ? NULL : call_holding(op, given, num_positional, named, out, held);
    Py_XDECREF(held);
    return result;
}

static PyObject *out_name;

int fpy_ready_calls(void)
{
    out_name = PyUnicode_InternFromString("out");
    return out_name == NULL ? -1 : 0;
}

/* Names in code are interned, others need not be. */
static inline bool is_out(PyObject *keyword)
{
    return keyword == out_name || PyUnicode_Compare(keyword, out_name) == 0;
}

/* The keyword `out`, unless an operand is called that. */
static inline Py_ssize_t find_out(const fpy_op *op, PyObject *keywords)
{
    for (Py_ssize_t i = 0; op->takes_out && i < PyTuple_GET_SIZE(keywords); i++)
        if (is_out(PyTuple_GET_ITEM(keywords, i)))
            return i;
    return -1;
}

PyObject *fpy_op_call(PyObject *self, PyObject *const *given, size_t num_flagged,
                      PyObject *keywords)
{
    fpy_op *op = (fpy_op *)self;
    size_t count = (size_t)PyVectorcall_NARGS(num_flagged);
    named_arguments named = {keywords, given + count,
                             keywords == NULL ? -1 : find_out(op, keywords)};
    PyObject *out =
        named.out < 0 || named.values[named.out] == Py_None ? NULL : named.values[named.out];
    fer_tensor *operands[FER_MAX_OPERANDS];
    bool is_plain = count == op->num_operands &&
                    (keywords == NULL || (named.out >= 0 && PyTuple_GET_SIZE(keywords) == 1)) &&
                    (out == NULL || (op->num_results == 1 && fpy_is_tensor(out)));
    for (size_t i = 0; is_plain && i < count; i++) {
        is_plain = fpy_is_tensor(given[i]);
        if (is_plain)
            operands[i] = ((fpy_tensor *)given[i])->tensor;
    }
    if (!is_plain)
        return call_any(op, given, count, &named, out);
    fer_error error = FER_ERROR_INIT;
    fer_tensor *results[FER_MAX_OPERANDS];
    tensor_call call = {.op = op,
                        .operands = operands,
                        .results = results,
                        .num_results = op->num_results,
                        .are_given = out != NULL};
    if (out != NULL)
        results[0] = ((fpy_tensor *)out)->tensor;
    if (run_tensors(op, &call, &error) != FER_OK)
        return fpy_raise_interrupted(&error);
    return out != NULL ? Py_NewRef(out) : fpy_wrap_tensors(results, op->num_results);
}
