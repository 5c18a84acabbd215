/* A declaration in Python objects as the structs of ferrule/signature.h. What it means is judged by
 * the library; here only the objects' classes are looked at. */
#include "core.h"

#include <string.h>

/* The library takes at most 16 operands and results, 8 dims and a run, 64 generics. One more of
 * each is passed on, so that its own words say that there are too many. */
enum { MAX_ITEMS = FER_MAX_OPERANDS + 1, MAX_AXES = FER_MAX_RANK + 2, MAX_GENERICS = 65 };

struct fpy_declaration {
    fer_signature_spec spec;
    fer_operand items[2][MAX_ITEMS]; /* operands, results */
    fer_axis axes[2][MAX_ITEMS][MAX_AXES];
    fer_dtype_var dtype_vars[MAX_GENERICS];
    fer_param params[MAX_GENERICS];
    fer_condition conditions[MAX_GENERICS];
    PyObject *held; /* a list of what the structs borrow from */
};

enum { OPERANDS, RESULTS };

/* Text of a str, which is held. */
static const char *hold_text(fpy_declaration *self, PyObject *object, const char *what)
{
    const char *text = fpy_c_text(object, what);
    return text == NULL || PyList_Append(self->held, object) < 0 ? NULL : text;
}

static int hold(fpy_declaration *self, PyObject *object)
{
    return PyList_Append(self->held, object);
}

/* --- Items ------------------------------------------------------------------------------------ */

static int add_dtype_var(fpy_declaration *self, PyObject *variable, const char *name)
{
    fer_signature_spec *spec = &self->spec;
    uint32_t allowed = fpy_dtype_var_allowed(variable);
    for (size_t i = 0; i < spec->num_dtype_vars; i++) {
        if (strcmp(self->dtype_vars[i].name, name) != 0)
            continue;
        if (self->dtype_vars[i].allowed == allowed)
            return 0;
        PyErr_Format(PyExc_ValueError, "%s: dtype variable '%s' is declared with two constraints",
                     spec->name, name);
        return -1;
    }
    if (spec->num_dtype_vars < MAX_GENERICS)
        self->dtype_vars[spec->num_dtype_vars++] =
            (fer_dtype_var){.name = name, .allowed = allowed};
    return 0;
}

static int read_dtype(fpy_declaration *self, PyObject *dtype, fer_template *out_type)
{
    if (Py_IS_TYPE(dtype, &fpy_class_dtype)) {
        out_type->dtype = ((fpy_dtype *)dtype)->dtype;
        return 0;
    }
    bool is_param = Py_IS_TYPE(dtype, &fpy_class_param);
    out_type->dtype_var = is_param ? fer_dim_symbol_name(((fpy_dim *)dtype)->dim, NULL)
                                   : hold_text(self, fpy_name_of(dtype), "a name");
    if (out_type->dtype_var == NULL)
        return -1;
    return is_param ? 0 : add_dtype_var(self, dtype, out_type->dtype_var);
}

static int read_template(fpy_declaration *self, int side, size_t index, PyObject *template)
{
    fer_template *type = &self->items[side][index].type;
    PyObject *axes = fpy_template_axes(template);
    fer_axis *made = self->axes[side][index];
    type->axes = made;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(axes) && i < MAX_AXES; i++) {
        PyObject *axis = PyTuple_GET_ITEM(axes, i);
        if (!Py_IS_TYPE(axis, &fpy_class_run))
            made[i].dim = ((fpy_dim *)axis)->dim;
        else if ((made[i].run = hold_text(self, fpy_name_of(axis), "a name")) == NULL)
            return -1;
        type->num_axes++;
    }
    return hold(self, template) < 0 ? -1 : read_dtype(self, fpy_template_dtype(template), type);
}

static PyObject *as_template(const fpy_declaration *self, const char *where, PyObject *given)
{
    if (Py_IS_TYPE(given, &fpy_class_template))
        return Py_NewRef(given);
    return PyErr_Format(PyExc_TypeError, "%s: %s is %s, not a TemplateType", self->spec.name, where,
                        Py_TYPE(given)->tp_name);
}

/* `name` is NULL or None for a result without one. */
static int add_item(fpy_declaration *self, int side, PyObject *name, PyObject *given)
{
    size_t *count = side == OPERANDS ? &self->spec.num_operands : &self->spec.num_results;
    if (*count == MAX_ITEMS)
        return 0;
    fer_operand *item = &self->items[side][*count];
    if (name != NULL && name != Py_None && (item->name = hold_text(self, name, "a name")) == NULL)
        return -1;
    char where[80];
    if (item->name != NULL)
        PyOS_snprintf(where, sizeof where, "%s '%.50s'", side == OPERANDS ? "operand" : "result",
                      item->name);
    else
        PyOS_snprintf(where, sizeof where, "result %zu", *count);
    PyObject *template = as_template(self, where, given);
    int result = template == NULL ? -1 : read_template(self, side, *count, template);
    Py_XDECREF(template);
    ++*count;
    return result;
}

static int add_pairs(fpy_declaration *self, int side, PyObject *mapping)
{
    PyObject *items = fpy_pairs(mapping);
    int result = items == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(items); i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        result = add_item(self, side, PyTuple_GET_ITEM(item, 0), PyTuple_GET_ITEM(item, 1));
    }
    Py_XDECREF(items);
    return result;
}

static bool has_keys(PyObject *object)
{
    return PyDict_Check(object) || PyObject_HasAttrString(object, "keys");
}

static int add_operands(fpy_declaration *self, PyObject *inputs)
{
    if (has_keys(inputs))
        return add_pairs(self, OPERANDS, inputs);
    PyErr_Format(PyExc_TypeError, "%s: inputs is a mapping of names to TemplateType, not %s",
                 self->spec.name, Py_TYPE(inputs)->tp_name);
    return -1;
}

static int add_results(fpy_declaration *self, PyObject *outputs)
{
    if (outputs == Py_None)
        return 0;
    if (has_keys(outputs))
        return add_pairs(self, RESULTS, outputs);
    PyObject *items =
        fpy_items(outputs, "outputs is a sequence of TemplateType, or a mapping of names to them");
    int result = items == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++)
        result = add_item(self, RESULTS, NULL, PyTuple_GET_ITEM(items, i));
    Py_XDECREF(items);
    return result;
}

/* --- The rest --------------------------------------------------------------------------------- */

static int set_inout(fpy_declaration *self, PyObject *name)
{
    const char *text = hold_text(self, name, "what inout names");
    if (text == NULL)
        return -1;
    for (size_t i = 0; i < self->spec.num_operands; i++)
        if (self->items[OPERANDS][i].name != NULL &&
            strcmp(self->items[OPERANDS][i].name, text) == 0) {
            self->items[OPERANDS][i].is_inout = true;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "%s: inout names '%s', which is no operand", self->spec.name,
                 text);
    return -1;
}

/* Applies `add` to a str, or to each item of a sequence. */
static int for_each(fpy_declaration *self, PyObject *given,
                    int (*add)(fpy_declaration *self, PyObject *item))
{
    if (given == Py_None)
        return 0;
    if (PyUnicode_Check(given))
        return add(self, given);
    PyObject *items = fpy_items(given, "expected a str or a sequence of them");
    int result = items == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++)
        result = add(self, PyTuple_GET_ITEM(items, i));
    Py_XDECREF(items);
    return result;
}

static int add_condition(fpy_declaration *self, PyObject *item)
{
    if (!PyUnicode_Check(item)) {
        PyErr_Format(
            PyExc_TypeError,
            "%s: a condition is text, where='n %% 2 == 0', not %s; Python would compare the "
            "dims themselves",
            self->spec.name, Py_TYPE(item)->tp_name);
        return -1;
    }
    const char *text = hold_text(self, item, "a condition");
    if (text != NULL && self->spec.num_conditions < MAX_GENERICS)
        self->conditions[self->spec.num_conditions++].text = text;
    return text == NULL ? -1 : 0;
}

static int add_params(fpy_declaration *self, PyObject *parameters)
{
    if (parameters == Py_None)
        return 0;
    PyObject *items = fpy_pairs(parameters);
    int result = items == NULL || hold(self, items) < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(items); i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        if (self->spec.num_params < MAX_GENERICS)
            result = fpy_param_from(PyTuple_GET_ITEM(item, 0), PyTuple_GET_ITEM(item, 1), true,
                                    &self->params[self->spec.num_params++]);
    }
    Py_XDECREF(items);
    return result;
}

static int fill(fpy_declaration *self, PyObject *const *parts)
{
    self->held = PyList_New(0);
    if (self->held == NULL)
        return -1;
    self->spec.name = hold_text(self, parts[0], "an op's name");
    if (self->spec.name == NULL || add_operands(self, parts[1]) < 0 ||
        add_results(self, parts[2]) < 0 || add_params(self, parts[3]) < 0 ||
        for_each(self, parts[4], add_condition) < 0)
        return -1;
    return for_each(self, parts[5], set_inout);
}

fpy_declaration *fpy_declaration_create(PyObject *name, PyObject *inputs, PyObject *outputs,
                                        PyObject *parameters, PyObject *where, PyObject *inout,
                                        int has_effect)
{
    fpy_declaration *self = PyMem_Calloc(1, sizeof *self);
    if (self == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    self->spec.dtype_vars = self->dtype_vars;
    self->spec.params = self->params;
    self->spec.operands = self->items[OPERANDS];
    self->spec.results = self->items[RESULTS];
    self->spec.conditions = self->conditions;
    self->spec.has_effect = has_effect != 0;
    PyObject *const parts[] = {name, inputs, outputs, parameters, where, inout};
    if (fill(self, parts) == 0)
        return self;
    fpy_declaration_free(self);
    return NULL;
}

const fer_signature_spec *fpy_declaration_spec(const fpy_declaration *declaration)
{
    return &declaration->spec;
}

void fpy_declaration_free(fpy_declaration *declaration)
{
    if (declaration == NULL)
        return;
    Py_XDECREF(declaration->held);
    PyMem_Free(declaration);
}

/* --- Parameters ------------------------------------------------------------------------------- */

/* None is an int, as a dim is; a class says which kind has no value yet. */
static bool read_missing(PyObject *value, fer_param *out_param)
{
    const struct {
        PyObject *class;
        fer_param_kind kind;
    } kinds[] = {{Py_None, FER_PARAM_INT},
                 {(PyObject *)&PyLong_Type, FER_PARAM_INT},
                 {(PyObject *)&PyFloat_Type, FER_PARAM_FLOAT},
                 {(PyObject *)&PyBool_Type, FER_PARAM_BOOL},
                 {(PyObject *)&PyUnicode_Type, FER_PARAM_STR},
                 {(PyObject *)&fpy_class_dtype, FER_PARAM_DTYPE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (value == kinds[i].class) {
            out_param->kind = kinds[i].kind;
            return true;
        }
    return false;
}

static int read_int(PyObject *value, fer_param *out_param)
{
    PyObject *number = PyNumber_Index(value);
    out_param->kind = FER_PARAM_INT;
    out_param->value.as_int = number == NULL ? -1 : PyLong_AsLongLong(number);
    Py_XDECREF(number);
    return PyErr_Occurred() == NULL ? 0 : -1;
}

static int read_str(PyObject *value, fer_param *out_param)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(value, &length);
    out_param->kind = FER_PARAM_STR;
    if (text != NULL)
        out_param->value.as_str = (fer_string){text, (size_t)length};
    return text == NULL ? -1 : 0;
}

int fpy_param_from(PyObject *name, PyObject *value, bool may_lack_value, fer_param *out_param)
{
    *out_param = (fer_param){.name = fpy_c_text(name, "a parameter's name")};
    if (out_param->name == NULL)
        return -1;
    if (may_lack_value && read_missing(value, out_param))
        return 0;
    out_param->has_value = true;
    int is_dtype = fpy_dtype_of(value, &out_param->value.as_dtype);
    if (is_dtype < 0)
        return -1;
    if (is_dtype == 1) {
        out_param->kind = FER_PARAM_DTYPE;
    } else if (PyBool_Check(value)) {
        out_param->kind = FER_PARAM_BOOL;
        out_param->value.as_bool = value == Py_True;
    } else if (PyFloat_Check(value)) {
        out_param->kind = FER_PARAM_FLOAT;
        out_param->value.as_float = PyFloat_AS_DOUBLE(value);
    } else if (PyUnicode_Check(value)) {
        return read_str(value, out_param);
    } else if (PyIndex_Check(value)) {
        return read_int(value, out_param);
    } else {
        PyErr_Format(
            PyExc_TypeError,
            "parameter '%s' is %s; a parameter is a bool, an int, a float, a str or a DType",
            out_param->name, Py_TYPE(value)->tp_name);
        return -1;
    }
    return 0;
}

PyObject *fpy_param_value(const fer_param *param)
{
    if (!param->has_value)
        Py_RETURN_NONE;
    switch (param->kind) {
    case FER_PARAM_INT:
        return PyLong_FromLongLong(param->value.as_int);
    case FER_PARAM_FLOAT:
        return PyFloat_FromDouble(param->value.as_float);
    case FER_PARAM_BOOL:
        return PyBool_FromLong(param->value.as_bool);
    case FER_PARAM_STR:
        return PyUnicode_DecodeUTF8(param->value.as_str.data,
                                    (Py_ssize_t)param->value.as_str.num_bytes, "replace");
    case FER_PARAM_DTYPE:
        break;
    }
    return fpy_dtype_object(param->value.as_dtype);
}
