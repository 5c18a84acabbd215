/* CustomOp: declaring, and what an op says of itself. Calling it is in call.c. */
#include "core.h"

#include <string.h>

static fpy_op *as_op(PyObject *self)
{
    return (fpy_op *)self;
}

static const fer_signature_spec *folded(const fpy_op *op)
{
    return fer_signature_folded(fer_op_signature(op->op));
}

static const fer_signature_spec *declared(const fpy_op *op)
{
    return fer_signature_declared(fer_op_signature(op->op));
}

/* Takes the op; `source` may be NULL. */
static PyObject *wrap(fer_op *made, PyObject *source)
{
    fpy_op *self = fpy_new(&fpy_class_op);
    if (self == NULL) {
        fer_op_release(made);
        return NULL;
    }
    const fer_signature_spec *spec = fer_signature_folded(fer_op_signature(made));
    *self = (fpy_op){
        .ob_base = self->ob_base,
        .vectorcall = fpy_op_call,
        .op = made,
        .num_operands = spec->num_operands,
        .num_results = spec->num_results,
        .takes_out = true,
        .source = Py_XNewRef(source),
    };
    for (size_t i = 0; i < spec->num_operands; i++) {
        self->inout |= (uint32_t)spec->operands[i].is_inout << i;
        self->takes_out &= strcmp(spec->operands[i].name, "out") != 0;
    }
    return (PyObject *)self;
}

static void destroy(PyObject *self)
{
    fpy_forget(self);
    fpy_op *op = as_op(self);
    fer_op_release(op->op);
    Py_XDECREF(op->source);
    Py_XDECREF(op->attributes);
    PyObject_Free(self);
}

/* --- Declaring -------------------------------------------------------------------------------- */

/* Paths and texts of one declaration, which the struct borrows. */
typedef struct request {
    fer_declaration declaration;
    fer_signature *parsed;
    PyObject *paths[FER_MAX_PACKAGES]; /* bytes */
    size_t num_paths;
    fer_param *params;
} request;

static void clear_request(request *r)
{
    for (size_t i = 0; i < r->num_paths; i++)
        Py_DECREF(r->paths[i]);
    fer_signature_release(r->parsed);
    PyMem_Free(r->params);
}

static int add_path(request *r, PyObject *path)
{
    if (r->num_paths == FER_MAX_PACKAGES) {
        PyErr_Format(PyExc_ValueError, "an op has at most %d packages", FER_MAX_PACKAGES);
        return -1;
    }
    PyObject *bytes = NULL;
    if (PyUnicode_FSConverter(path, &bytes) == 0)
        return -1;
    r->declaration.packages[r->num_paths] = PyBytes_AS_STRING(bytes);
    r->paths[r->num_paths++] = bytes;
    return 0;
}

/* One path, or a sequence of them. */
static int add_paths(request *r, PyObject *given)
{
    if (given == Py_None)
        return 0;
    if (PyUnicode_Check(given) || PyBytes_Check(given) ||
        PyObject_HasAttrString(given, "__fspath__"))
        return add_path(r, given);
    PyObject *items = fpy_items(given, "custom_extensions is a path or a sequence of paths");
    int result = items == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++)
        result = add_path(r, PyTuple_GET_ITEM(items, i));
    Py_XDECREF(items);
    return result;
}

/* `items` is a list of pairs that outlives the parameters. */
static int read_params(PyObject *items, fer_param **out_params, size_t *out_count)
{
    *out_count = (size_t)PyList_GET_SIZE(items);
    *out_params = PyMem_Calloc(*out_count + 1, sizeof **out_params);
    if (*out_params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < *out_count; i++) {
        PyObject *item = PyList_GET_ITEM(items, (Py_ssize_t)i);
        if (fpy_param_from(PyTuple_GET_ITEM(item, 0), PyTuple_GET_ITEM(item, 1), false,
                           &(*out_params)[i]) < 0)
            return -1;
    }
    return 0;
}

static PyObject *finish(request *r, PyObject *source)
{
    fer_op *made;
    fer_error error = FER_ERROR_INIT;
    fpy_let_go();
    fer_status status = fer_declare(&r->declaration, &made, &error);
    fpy_take_back();
    return status == FER_OK ? wrap(made, source) : fpy_raise_interrupted(&error);
}

/* A whole declaration, or the name of a kernel whose SIGNATURE the package has. */
static PyObject *declare_text(request *r, PyObject *text, PyObject *parameters, PyObject *source)
{
    const char *words = fpy_c_text(text, "a declaration");
    if (words == NULL)
        return NULL;
    if (strpbrk(words, "(<") != NULL)
        r->declaration.signature = words;
    else
        r->declaration.kernel = words;
    PyObject *items = parameters == Py_None ? PyList_New(0) : fpy_pairs(parameters);
    PyObject *made = NULL;
    if (items != NULL && read_params(items, &r->params, &r->declaration.num_params) == 0) {
        r->declaration.params = r->params;
        made = finish(r, source);
    }
    Py_XDECREF(items);
    return made;
}

static int make_signature(PyObject *const *parts, int has_effect, fer_signature **out_signature)
{
    fpy_declaration *structs = fpy_declaration_create(parts[0], parts[1], parts[2], parts[3],
                                                      parts[4], parts[5], has_effect);
    fer_error error = FER_ERROR_INIT;
    if (structs == NULL)
        return -1;
    fer_status status = fer_signature_create(fpy_declaration_spec(structs), out_signature, &error);
    fpy_declaration_free(structs);
    if (status == FER_OK)
        return 0;
    fpy_raise(&error);
    return -1;
}

/* What objects say, text says itself. */
static int check_text_alone(PyObject *const *parts, int has_effect)
{
    if (parts[2] == Py_None && parts[4] == Py_None && parts[5] == Py_None && !has_effect)
        return 0;
    PyErr_SetString(PyExc_TypeError,
                    "outputs, where, inout and effect go with inputs; a declaration in text says "
                    "them itself");
    return -1;
}

static PyObject *declare(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"name",  "inputs", "outputs", "parameters",        "where",
                            "inout", "effect", "source",  "custom_extensions", NULL};
    PyObject *parts[6] = {NULL, Py_None, Py_None, Py_None, Py_None, Py_None};
    PyObject *source = Py_None, *paths = Py_None, *made = NULL;
    int has_effect = 0;
    request r = {.num_paths = 0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOOpOO:declare", names, &parts[0],
                                     &parts[1], &parts[2], &parts[3], &parts[4], &parts[5],
                                     &has_effect, &source, &paths))
        return NULL;
    bool has_source = source != Py_None;
    if (has_source && (r.declaration.source = fpy_c_text(source, "source")) == NULL)
        return NULL;
    if (add_paths(&r, paths) < 0)
        goto done;
    if (parts[1] == Py_None) {
        if (check_text_alone(parts, has_effect) == 0)
            made = declare_text(&r, parts[0], parts[3], has_source ? source : NULL);
    } else if (make_signature(parts, has_effect, &r.parsed) == 0) {
        r.declaration.parsed = r.parsed;
        made = finish(&r, has_source ? source : NULL);
    }

done:
    clear_request(&r);
    return made;
}

static PyObject *subscript(PyObject *self, PyObject *parameters)
{
    fpy_op *op = as_op(self);
    if (!PyDict_Check(parameters) && !PyObject_HasAttrString(parameters, "keys"))
        return PyErr_Format(PyExc_TypeError,
                            "%s: an op is subscripted with parameters, op[{'name': "
                            "value}], not with %s",
                            fer_op_name(op->op), Py_TYPE(parameters)->tp_name);
    PyObject *items = fpy_pairs(parameters);
    fer_param *params = NULL;
    size_t num_params;
    PyObject *made = NULL;
    if (items != NULL && read_params(items, &params, &num_params) == 0) {
        fer_op *specialised;
        fer_error error = FER_ERROR_INIT;
        fpy_let_go();
        fer_status status = fer_op_specialise(op->op, params, num_params, &specialised, &error);
        fpy_take_back();
        made = status == FER_OK ? wrap(specialised, op->source) : fpy_raise_interrupted(&error);
    }
    PyMem_Free(params);
    Py_XDECREF(items);
    return made;
}

/* --- Attributes ------------------------------------------------------------------------------- */

/* A read-only view; takes the dict. */
static PyObject *freeze(PyObject *dict)
{
    PyObject *view = dict == NULL ? NULL : PyDictProxy_New(dict);
    Py_XDECREF(dict);
    return view;
}

/* Takes key and value, which may be NULL with an exception. */
static int put(PyObject *dict, PyObject *key, PyObject *value)
{
    int result = key == NULL || value == NULL ? -1 : PyDict_SetItem(dict, key, value);
    Py_XDECREF(key);
    Py_XDECREF(value);
    return result;
}

static PyObject *make_inputs(const fer_signature_spec *spec)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < spec->num_operands; i++)
        if (put(dict, fpy_text(spec->operands[i].name),
                fpy_template_object(spec, &spec->operands[i].type)) < 0)
            Py_CLEAR(dict);
    return freeze(dict);
}

static PyObject *make_outputs(const fer_signature_spec *spec)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)spec->num_results);
    for (size_t i = 0; tuple != NULL && i < spec->num_results; i++) {
        PyObject *result = fpy_template_object(spec, &spec->results[i].type);
        if (result == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, result);
    }
    return tuple;
}

static PyObject *inputs(const fpy_op *op)
{
    return make_inputs(folded(op));
}

static PyObject *outputs(const fpy_op *op)
{
    return make_outputs(folded(op));
}

static PyObject *declared_inputs(const fpy_op *op)
{
    return make_inputs(declared(op));
}

static PyObject *declared_outputs(const fpy_op *op)
{
    return make_outputs(declared(op));
}

static PyObject *parameters(const fpy_op *op)
{
    const fer_signature_spec *spec = declared(op);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < spec->num_params; i++)
        if (put(dict, fpy_text(spec->params[i].name), fpy_param_value(&spec->params[i])) < 0)
            Py_CLEAR(dict);
    return freeze(dict);
}

static PyObject *pinned_params(const fpy_op *op)
{
    const fer_signature_spec *spec = folded(op);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < spec->num_operands; i++)
        for (size_t j = 0; dict != NULL && j < spec->operands[i].type.num_axes; j++) {
            const char *name = fer_signature_pinned_param(fer_op_signature(op->op), i, j);
            if (name != NULL &&
                put(dict, Py_BuildValue("(sn)", spec->operands[i].name, (Py_ssize_t)j),
                    fpy_text(name)) < 0)
                Py_CLEAR(dict);
        }
    return freeze(dict);
}

static PyObject *make_paths(const fer_op *op, size_t count,
                            const char *(*path_at)(const fer_op *op, size_t index))
{
    PyObject *pathlib = PyImport_ImportModule("pathlib");
    PyObject *class = pathlib == NULL ? NULL : PyObject_GetAttrString(pathlib, "Path");
    PyObject *tuple = class == NULL ? NULL : PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *text = PyUnicode_DecodeFSDefault(path_at(op, i));
        PyObject *path = text == NULL ? NULL : PyObject_CallOneArg(class, text);
        Py_XDECREF(text);
        if (path == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, path);
    }
    Py_XDECREF(class);
    Py_XDECREF(pathlib);
    return tuple;
}

static PyObject *extensions(const fpy_op *op)
{
    return make_paths(op->op, fer_op_num_extensions(op->op), fer_op_extension);
}

static PyObject *result_names(const fpy_op *op)
{
    const fer_signature_spec *spec = folded(op);
    PyObject *tuple = PyTuple_New((Py_ssize_t)spec->num_results);
    for (size_t i = 0; tuple != NULL && i < spec->num_results; i++) {
        const char *name = spec->results[i].name;
        PyObject *item = name == NULL ? Py_NewRef(Py_None) : fpy_text(name);
        if (item == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
    }
    return tuple;
}

static PyObject *inout(const fpy_op *op)
{
    const fer_signature_spec *spec = folded(op);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < spec->num_operands; i++) {
        PyObject *name = spec->operands[i].is_inout ? fpy_text(spec->operands[i].name) : NULL;
        if (spec->operands[i].is_inout && (name == NULL || PyList_Append(list, name) < 0))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    PyObject *tuple = list == NULL ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    return tuple;
}

static PyObject *condition_text(const fer_condition *condition)
{
    static const char *const COMPARISONS[] = {"==", "!=", "<", "<=", ">", ">="};
    if (condition->text != NULL)
        return fpy_text(condition->text);
    return PyUnicode_FromFormat("%s %s %s", fer_dim_text(condition->left),
                                COMPARISONS[condition->comparison], fer_dim_text(condition->right));
}

static PyObject *where(const fpy_op *op)
{
    const fer_signature_spec *spec = declared(op);
    PyObject *tuple = PyTuple_New((Py_ssize_t)spec->num_conditions);
    for (size_t i = 0; tuple != NULL && i < spec->num_conditions; i++) {
        PyObject *text = condition_text(&spec->conditions[i]);
        if (text == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, text);
    }
    return tuple;
}

/* Written in Python, where `inspect` is. */
static PyObject *signature(const fpy_op *op)
{
    PyObject *module = PyImport_ImportModule("ferrule._signature");
    PyObject *made = module == NULL ? NULL : PyObject_CallMethod(module, "of", "O", (PyObject *)op);
    Py_XDECREF(module);
    return made;
}

typedef struct attribute {
    const char *name;
    PyObject *(*make)(const fpy_op *op);
} attribute;

static const attribute INPUTS = {"inputs", inputs}, OUTPUTS = {"outputs", outputs},
                       DECLARED_INPUTS = {"declared_inputs", declared_inputs},
                       DECLARED_OUTPUTS = {"declared_outputs", declared_outputs},
                       PARAMETERS = {"parameters", parameters},
                       PINNED_PARAMS = {"pinned_params", pinned_params},
                       EXTENSIONS = {"extensions", extensions},
                       RESULT_NAMES = {"result_names", result_names}, INOUT = {"inout", inout},
                       WHERE = {"where", where}, SIGNATURE = {"__signature__", signature};

/* An op never changes, so each is made once. */
static PyObject *get_made(PyObject *self, void *closure)
{
    fpy_op *op = as_op(self);
    const attribute *wanted = closure;
    if (op->attributes == NULL && (op->attributes = PyDict_New()) == NULL)
        return NULL;
    PyObject *made = PyDict_GetItemString(op->attributes, wanted->name);
    if (made != NULL)
        return Py_NewRef(made);
    made = wanted->make(op);
    PyObject *name = made == NULL ? NULL : PyUnicode_FromString(wanted->name);
    /* Another thread may have been first. */
    PyObject *kept = name == NULL ? NULL : PyDict_SetDefault(op->attributes, name, made);
    Py_XINCREF(kept);
    Py_XDECREF(name);
    Py_XDECREF(made);
    return kept;
}

static PyObject *get_binaries(PyObject *self, void *closure)
{
    (void)closure;
    return make_paths(as_op(self)->op, fer_op_num_binaries(as_op(self)->op), fer_op_binary);
}

static PyObject *get_name(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_text(fer_op_name(as_op(self)->op));
}

static PyObject *get_token(PyObject *self, void *closure)
{
    (void)closure;
    return fpy_text(fer_op_token(as_op(self)->op));
}

static PyObject *get_is_complete(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(fer_op_is_complete(as_op(self)->op));
}

static PyObject *get_effect(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(folded(as_op(self))->has_effect);
}

static PyObject *show(PyObject *self)
{
    return fpy_text(fer_op_text(as_op(self)->op));
}

static PyObject *compare(PyObject *a, PyObject *b, int comparison)
{
    if (!Py_IS_TYPE(b, &fpy_class_op) || (comparison != Py_EQ && comparison != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong(fer_op_equal(as_op(a)->op, as_op(b)->op) == (comparison == Py_EQ));
}

static Py_hash_t hash(PyObject *self)
{
    Py_hash_t value = (Py_hash_t)fer_op_hash(as_op(self)->op);
    return value == -1 ? -2 : value;
}

static PyObject *itself(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

/* Written in Python, where torch is. */
static PyObject *as_torch(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *module = PyImport_ImportModule("ferrule._torch");
    PyObject *handle = module == NULL ? NULL : PyObject_CallMethod(module, "register", "O", self);
    Py_XDECREF(module);
    return handle;
}

/* Packages by path, and source text as it is: `inline:` and a digest say nothing elsewhere. */
static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const fpy_op *op = as_op(self);
    PyObject *paths = PyList_New(0);
    for (size_t i = 0; paths != NULL && i < fer_op_num_extensions(op->op); i++) {
        const char *path = fer_op_extension(op->op, i);
        PyObject *text = PyUnicode_DecodeFSDefault(path);
        if (text == NULL || (path[0] == '/' && PyList_Append(paths, text) < 0))
            Py_CLEAR(paths);
        Py_XDECREF(text);
    }
    PyObject *core = paths == NULL ? NULL : PyImport_ImportModule("ferrule._core");
    PyObject *function = core == NULL ? NULL : PyObject_GetAttrString(core, "_redeclare");
    Py_XDECREF(core);
    if (function == NULL) {
        Py_XDECREF(paths);
        return NULL;
    }
    return Py_BuildValue("N(sNO)", function, fer_op_text(op->op), paths,
                         op->source == NULL ? Py_None : op->source);
}

static PyObject *redeclare(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *text, *paths, *source, *made = NULL;
    request r = {.num_paths = 0};
    if (!PyArg_ParseTuple(args, "UOO", &text, &paths, &source))
        return NULL;
    bool has_source = source != Py_None;
    if (has_source && (r.declaration.source = fpy_c_text(source, "source")) == NULL)
        return NULL;
    if (add_paths(&r, paths) == 0)
        made = declare_text(&r, text, Py_None, has_source ? source : NULL);
    clear_request(&r);
    return made;
}

/* --- The class -------------------------------------------------------------------------------- */

static PyGetSetDef members[] = {
    {"name", get_name, NULL,
     "The kernel's name.\n\n"
     ">>> custom.declare('add', custom_extensions='std').name\n"
     "'add'",
     NULL},
    {"inputs", get_made, NULL,
     "A read-only mapping of operand names to TemplateType, in order.\n\n"
     ">>> list(custom.declare('add', custom_extensions='std').inputs)\n"
     "['a', 'b']",
     (void *)&INPUTS},
    {"outputs", get_made, NULL,
     "A tuple of TemplateType, one for each result.\n\n"
     ">>> custom.declare('add', custom_extensions='std').outputs\n"
     "(TemplateType(T[*s]),)",
     (void *)&OUTPUTS},
    {"extensions", get_made, NULL,
     "A tuple of Path: the kernel packages as declared, absolute; `inline:` and a digest for\n"
     "source text.\n\n"
     ">>> custom.declare('add', custom_extensions='std').extensions[0].name\n"
     "'kernels'",
     (void *)&EXTENSIONS},
    {"parameters", get_made, NULL,
     "A read-only mapping of parameter names to bool, int, float, str, DType, or None for one\n"
     "without a value.\n\n"
     ">>> dict(custom.declare('topk', custom_extensions='std').parameters)\n"
     "{'k': None}",
     (void *)&PARAMETERS},
    {"declared_inputs", get_made, NULL,
     "inputs before parameters were folded into them.\n\n"
     ">>> custom.declare('topk', custom_extensions='std').declared_inputs['x']\n"
     "TemplateType(T[*s, n])",
     (void *)&DECLARED_INPUTS},
    {"declared_outputs", get_made, NULL,
     "outputs before parameters were folded into them.\n\n"
     ">>> top2 = custom.declare('topk', custom_extensions='std')[{'k': 2}]\n"
     ">>> top2.declared_outputs[1], top2.outputs[1]\n"
     "(TemplateType(i64[*s, k]), TemplateType(i64[*s, 2]))",
     (void *)&DECLARED_OUTPUTS},
    {"pinned_params", get_made, NULL,
     "A read-only mapping of (operand, axis) to the parameter that alone was that dim.\n\n"
     ">>> source = '''#include <ferrule/kernel.h>\n"
     "... MAP(pair, f32, IN(f32, x)) { return x; }'''\n"
     ">>> pair = custom.declare('pair<g: int = 2>(x: f32[n, g]) -> f32[n, g]', source=source)\n"
     ">>> dict(pair.pinned_params)\n"
     "{('x', 1): 'g'}",
     (void *)&PINNED_PARAMS},
    {"is_complete", get_is_complete, NULL,
     "Whether every parameter has a value.\n\n"
     ">>> topk = custom.declare('topk', custom_extensions='std')\n"
     ">>> topk.is_complete, topk[{'k': 2}].is_complete\n"
     "(False, True)",
     NULL},
    {"token", get_token, NULL,
     "The name, `#` and a digest of the declaration; the same everywhere.\n\n"
     ">>> custom.declare('add', custom_extensions='std').token[:4]\n"
     "'add#'",
     NULL},
    {"binaries", get_binaries, NULL,
     "A tuple of Path: the compiled libraries loaded so far, one for each choice of dtypes.\n\n"
     ">>> custom.declare('add', custom_extensions='std').binaries[0].suffix\n"
     "'.so'",
     NULL},
    {"result_names", get_made, NULL,
     "A tuple of the results' names, None where there is none.\n\n"
     ">>> custom.declare('topk', custom_extensions='std').result_names\n"
     "('values', 'indices')",
     (void *)&RESULT_NAMES},
    {"inout", get_made, NULL,
     "A tuple of the operands that are changed in place.\n\n"
     ">>> custom.declare('histogram', custom_extensions='std').inout\n"
     "('counts',)",
     (void *)&INOUT},
    {"where", get_made, NULL,
     "A tuple of the conditions, as written.\n\n"
     ">>> custom.declare('topk', custom_extensions='std').where\n"
     "('k <= n',)",
     (void *)&WHERE},
    {"effect", get_effect, NULL,
     "Whether a call does more than its results show.\n\n"
     ">>> custom.declare('add', custom_extensions='std').effect\n"
     "False",
     NULL},
    {"__name__", get_name, NULL, NULL, NULL},
    {0},
};

/* Not a member of the class, which inspect asks for a signature of its own. */
static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    PyObject *attribute = PyObject_GenericGetAttr(self, name);
    if (attribute != NULL || !PyUnicode_Check(name) ||
        PyUnicode_CompareWithASCIIString(name, "__signature__") != 0)
        return attribute;
    PyErr_Clear();
    return get_made(self, (void *)&SIGNATURE);
}

PyDoc_STRVAR(
    torch_doc,
    "torch($self)\n--\n\n"
    "The op as a custom op of torch (a torch.library.CustomOpDef), called with torch's CPU\n"
    "tensors. torch.compile and torch.export take it without a break: its fake kernel is made\n"
    "from the declaration. Equal ops have the same one; it stays registered, as `ferrule::` and\n"
    "the token, as long as the process lives.\n\n"
    "ImportError: no torch, or one before 2.8. ValueError: an op that is not complete.\n\n"
    ">>> import torch\n"
    ">>> add = custom.declare('add', custom_extensions='std').torch()\n"
    ">>> add(torch.ones(2), torch.ones(2))\n"
    "tensor([2., 2.])");

static PyMethodDef methods[] = {
    {"torch", as_torch, METH_NOARGS, torch_doc},
    {"__copy__", itself, METH_NOARGS, NULL},
    {"__deepcopy__", itself, METH_O, NULL},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {0},
};

static PyMappingMethods mapping = {.mp_subscript = subscript};

PyDoc_STRVAR(
    op_doc, "A declared custom op, made by `custom.declare`: call it eagerly or in a graph.\n\n"
            "Operands are all eager (Tensor, NumPy arrays, whatever has DLPack or a buffer), and\n"
            "then the kernel runs at once; or all TensorValue, and then the op is staged. They\n"
            "are given by position or by name, and a rank-0 operand takes a plain number. One\n"
            "result comes bare, several come as a list. `out=` gives the tensor that takes the\n"
            "result, or a tuple of them, and is what comes back.\n\n"
            "`op[{'name': value}]` is the op with other parameters. Ops are immutable, compare by\n"
            "declaration, and are pickled by it.\n\n"
            "TypeError: the number or names of operands, something that is no tensor, tensors and\n"
            "graph values mixed. ValueError: dtype, rank, sizes, conditions, devices, an op that\n"
            "is not complete. ferrule.KernelError: the kernel failed. ferrule.CompileError: the\n"
            "first call with new dtypes.\n\n"
            ">>> add = custom.declare('add', custom_extensions='std')\n"
            ">>> add(Tensor([1, 2]), b=Tensor([3, 4])).tolist()\n"
            "[4, 6]");

PyTypeObject fpy_class_op = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ferrule.custom.CustomOp",
    .tp_doc = op_doc,
    .tp_basicsize = sizeof(fpy_op),
    .tp_weaklistoffset = offsetof(fpy_object, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_vectorcall_offset = offsetof(fpy_op, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_getattro = get_attribute,
    .tp_dealloc = destroy,
    .tp_repr = show,
    .tp_hash = hash,
    .tp_richcompare = compare,
    .tp_as_mapping = &mapping,
    .tp_methods = methods,
    .tp_getset = members,
};

static PyMethodDef functions[] = {
    {"declare", (PyCFunction)(void (*)(void))declare, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_redeclare", redeclare, METH_VARARGS, NULL},
    {0},
};

int fpy_add_ops(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) < 0 ? -1 : fpy_add_class(module, &fpy_class_op);
}
