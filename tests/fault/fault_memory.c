/* Every allocation of the public API made to fail once, and from some on all of them: an error of
 * kind MEMORY, or the right result without that memory; no crash, nothing written, nothing left.
 *
 *   fault_memory [FAULTS]
 *
 * AddressSanitizer then finds what nobody can reach any more. Compiling takes too long to be
 * repeated for each allocation: of a build, one for each 20 of FAULTS fails. */
#include "testing_package.h"
#include "testing_refusals.h"

#include "base/error.h"
#include "package/store.h"
#include <ferrule/ferrule.h>

static size_t num_builds = 5;

/* --- Dims, types and signatures --------------------------------------------------------------- */

static fer_status use_dims(fer_error *own)
{
    static fer_status (*const OPERATIONS[])(const fer_dim *, const fer_dim *, fer_dim **,
                                            fer_error *) = {
        fer_dim_add, fer_dim_subtract, fer_dim_multiply, fer_dim_floor_divide, fer_dim_modulo};
    fer_dim *dims[2] = {NULL};
    fer_dim *result = NULL;
    fer_dim *other = NULL;
    fer_status status =
        fer_dim_parse("((n + 2 * w) * (n - 1) // 6 + h % (n * w)) // 3", &dims[0], own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_dim_symbol(FER_NAMESPACE_CALLER, "w", &dims[1], own));
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++) {
        FER_TRY_DONE(OPERATIONS[i](dims[0], dims[1], &result, own));
        fer_substitution five = {FER_NAMESPACE_CALLER, "n", dims[1]};
        FER_TRY_DONE(fer_dim_substitute(result, &five, 1, &other, own));
        fer_assignment values[] = {{FER_NAMESPACE_CALLER, "w", 5}, {FER_NAMESPACE_CALLER, "h", 77}};
        int64_t value;
        FER_TRY_DONE(fer_dim_evaluate(other, values, 2, &value, own));
        fer_dim_release(result);
        fer_dim_release(other);
        result = NULL;
        other = NULL;
    }
    FER_TRY_DONE(fer_dim_negate(dims[0], &result, own));
    FER_TRY_DONE(fer_dim_constant(INT64_MIN, &other, own));
    int64_t value;
    FER_TRY_DONE(fer_dim_value(other, &value, own));
    assert_true(value == INT64_MIN);
    status = fer_dim_value(result, &value, own); /* no constant, which takes words to say */
    assert_int_not_equal(status, FER_OK);
    if (status != FER_MEMORY_ERROR) {
        fer_error_clear(own);
        status = FER_OK;
    }

done:
    fer_dim_release(dims[0]);
    fer_dim_release(dims[1]);
    fer_dim_release(result);
    fer_dim_release(other);
    return status;
}

static fer_status use_types(fer_error *own)
{
    fer_type *type = NULL;
    fer_type *made = NULL;
    fer_status status = fer_type_parse("bf16[n, w // 2, 4 * c + 1]", &type, own);
    if (status == FER_OK) {
        const fer_dim *dims[3] = {fer_type_dim(type, 0), fer_type_dim(type, 1),
                                  fer_type_dim(type, 2)};
        status = fer_type_create(FER_BF16, 3, dims, host, &made, own);
    }
    if (status == FER_OK)
        assert_true(fer_type_equal(type, made));
    fer_type_release(type);
    fer_type_release(made);
    return status;
}

static fer_status use_signatures(fer_error *own)
{
    static const char TEXT[] = "f<T: f32 | f64, U: dtype, by: int = 2, s: str = \"a\\nb\">(x: T[n, "
                               "*s1, w], inout y: T[n * 1], "
                               "z: U[by]) -> (r: T[*s1, w // by, (n + w) * 2], q: U[n % 3]) effect "
                               "where n > by, w % 2 == 0";
    fer_signature *parsed = NULL;
    fer_signature *made = NULL;
    fer_signature *from_texts = NULL;
    fer_signature *special = NULL;
    fer_type *types[3] = {NULL};
    fer_type *results[2] = {NULL};
    fer_status status = fer_signature_parse(TEXT, &parsed, own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_signature_create(fer_signature_declared(parsed), &made, own));
    assert_true(fer_signature_equal(parsed, made));
    fer_signature_spec spec = *fer_signature_declared(parsed);
    spec.conditions = (fer_condition[]){{.text = "n > by"}, {.text = "w % 2 == 0"}};
    FER_TRY_DONE(fer_signature_create(&spec, &from_texts, own));
    assert_true(fer_signature_equal(parsed, from_texts));
    fer_param params[] = {
        {.name = "by", .kind = FER_PARAM_INT, .has_value = true, .value.as_int = 4},
        {.name = "U", .kind = FER_PARAM_DTYPE, .has_value = true, .value.as_dtype = FER_U8}};
    FER_TRY_DONE(fer_signature_specialise(made, params, 2, &special, own));
    FER_TRY_DONE(fer_type_parse("f64[8, a, b + 1, 16]", &types[0], own));
    FER_TRY_DONE(fer_type_parse("f64[8]", &types[1], own));
    FER_TRY_DONE(fer_type_parse("u8[4]", &types[2], own));
    FER_TRY_DONE(fer_signature_infer(special, (const fer_type *const *)types, 3, results, 2, own));
    assert_string_equal(fer_type_text(results[0]), "f64[a, b + 1, 4, 48]");

done:
    for (size_t i = 0; i < 3; i++)
        fer_type_release(types[i]);
    fer_type_release(results[0]);
    fer_type_release(results[1]);
    fer_signature_release(parsed);
    fer_signature_release(made);
    fer_signature_release(from_texts);
    fer_signature_release(special);
    return status;
}

/* A refusal has a message to make, and where there is no memory for it, that is the message. */
static fer_status use_refusals(fer_error *own)
{
    static const char *const TEXTS[] = {"f(x: f32[n) -> f32[n]", "f(x: f32[n]) -> f32[m // 2]",
                                        "f(x: f33[n]) -> f32[n]",
                                        "f(x: f32[n], x: f32[n]) -> f32[n]"};
    fer_signature *signature;
    fer_dim *dim;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        if (fer_signature_parse(TEXTS[i], &signature, own) == FER_MEMORY_ERROR)
            return FER_MEMORY_ERROR;
    if (fer_dim_parse("(n + 1) // (n - n)", &dim, own) == FER_MEMORY_ERROR)
        return FER_MEMORY_ERROR;
    assert_int_equal(own->kind, FER_ZERO_DIVISION_ERROR);
    fer_dtype dtype;
    if (fer_dtype_parse("f33", 3, &dtype, own) == FER_MEMORY_ERROR ||
        fer_set_num_threads(FER_MAX_THREADS + 1, own) == FER_MEMORY_ERROR)
        return FER_MEMORY_ERROR;
    assert_int_equal(own->kind, FER_VALUE_ERROR);
    fer_error_clear(own);
    return FER_OK;
}

static void test_dims_types_and_signatures(void **state)
{
    (void)state;
    REFUSE_EACH(use_dims);
    REFUSE_EACH(use_types);
    REFUSE_EACH(use_signatures);
    REFUSE_EACH(use_refusals);
}

/* --- Tensors ---------------------------------------------------------------------------------- */

enum { LARGE = 40000 }; /* bytes: one of the pool's */

static fer_status use_tensors(fer_error *own)
{
    fer_tensor *tensors[9] = {NULL};
    fer_type *type = NULL;
    char *text = NULL;
    int64_t shape[2] = {3, 4};
    int64_t large[1] = {LARGE};
    float values[12] = {1, 2, 3};
    fer_number half = {.kind = FER_NUMBER_FLOAT, .value.as_float = 0.5};
    fer_number two = {.kind = FER_NUMBER_FLOAT, .value.as_float = 2};
    fer_status status = fer_tensor_empty(FER_F32, 2, shape, host, &tensors[0], own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_tensor_zeros(FER_I8, 1, large, host, &tensors[1], own));
    FER_TRY_DONE(fer_tensor_full(FER_F16, 2, shape, host, half, &tensors[2], own));
    FER_TRY_DONE(fer_tensor_scalar(FER_BF16, host, half, &tensors[3], own));
    FER_TRY_DONE(fer_tensor_arange(FER_F64, half, two, half, host, &tensors[4], own));
    FER_TRY_DONE(fer_tensor_copy_from(FER_F32, 2, shape, values, host, &tensors[5], own));
    FER_TRY_DONE(
        fer_tensor_borrow(FER_F32, 2, shape, values, true, host, NULL, NULL, &tensors[6], own));
    FER_TRY_DONE(fer_tensor_clone(tensors[6], host, &tensors[7], own));
    FER_TRY_DONE(fer_tensor_reshape(tensors[7], 1, (int64_t[]){-1}, &tensors[8], own));
    FER_TRY_DONE(fer_tensor_type(tensors[7], &type, own));
    assert_string_equal(fer_type_text(type), "f32[3, 4]");
    FER_TRY_DONE(fer_tensor_print(tensors[7], &text, own));

done:
    release_tensors(9, tensors);
    fer_type_release(type);
    fer_string_free(text);
    return status;
}

static fer_status use_npy(fer_error *own)
{
    fer_tensor *made = NULL;
    fer_tensor *tensors[4] = {NULL};
    fer_number zero = {.kind = FER_NUMBER_INT};
    fer_number stop = {.kind = FER_NUMBER_INT, .value.as_int = 9000};
    fer_number one = {.kind = FER_NUMBER_INT, .value.as_int = 1};
    fer_status status = fer_tensor_arange(FER_I32, zero, stop, one, host, &made, own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_npy_write(at("x.npy"), made, own));
    FER_TRY_DONE(fer_npy_read(at("x.npy"), &tensors[0], own));
    FER_TRY_DONE(fer_npy_map(at("x.npy"), &tensors[1], own));
    FER_TRY_DONE(fer_npy_read(FERRULE_TEST_CORPUS "/npy/fortran", &tensors[2], own));
    FER_TRY_DONE(fer_npy_map(FERRULE_TEST_CORPUS "/npy/big-endian", &tensors[3], own));
    for (size_t i = 0; i < 2; i++)
        assert_memory_equal(fer_tensor_const_data(tensors[i]), fer_tensor_const_data(made), 36000);

done:
    fer_tensor_release(made);
    release_tensors(4, tensors);
    return status;
}

static size_t num_deleted;

static void delete_old(fer_dl_managed_tensor *self)
{
    (void)self;
    num_deleted++;
}

static void delete_versioned(fer_dl_managed_tensor_versioned *self)
{
    (void)self;
    num_deleted++;
}

/* Out and in again; and a strided one of somebody else, whose deleter is called once or not. */
static fer_status use_dlpack(fer_error *own)
{
    int64_t shape[2] = {4, 3};
    int64_t strides[2] = {1, 4};
    float values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    fer_dl_tensor foreign = {.data = values,
                             .device = {.device_type = 1},
                             .ndim = 2,
                             .dtype = {fer_dtype_dlpack_code(FER_F32), 32, 1},
                             .shape = shape,
                             .strides = strides};
    fer_dl_managed_tensor old = {.dl_tensor = foreign, .deleter = delete_old};
    fer_dl_managed_tensor_versioned versioned = {
        .version = {1, 0}, .dl_tensor = foreign, .deleter = delete_versioned};
    fer_dl_managed_tensor *old_out = NULL;
    fer_dl_managed_tensor_versioned *out = NULL;
    fer_tensor *tensors[4] = {NULL};
    size_t num_taken = 0;
    num_deleted = 0;
    fer_status status = fer_tensor_from_dlpack(&old, FER_DL_COPY_IF_NEEDED, &tensors[0], own);
    FER_TRY_DONE(status);
    num_taken++;
    FER_TRY_DONE(
        fer_tensor_from_dlpack_versioned(&versioned, FER_DL_COPY_ALWAYS, &tensors[1], own));
    num_taken++;
    assert_true(((const float *)fer_tensor_const_data(tensors[1]))[1] == 4);
    FER_TRY_DONE(fer_tensor_to_dlpack(tensors[1], false, &old_out, own));
    FER_TRY_DONE(fer_tensor_to_dlpack_versioned(tensors[0], true, &out, own));
    FER_TRY_DONE(fer_tensor_from_dlpack(old_out, FER_DL_COPY_NEVER, &tensors[2], own));
    old_out = NULL;
    FER_TRY_DONE(fer_tensor_from_dlpack_versioned(out, FER_DL_COPY_NEVER, &tensors[3], own));
    out = NULL;

done:
    if (old_out != NULL)
        old_out->deleter(old_out);
    if (out != NULL)
        out->deleter(out);
    release_tensors(4, tensors);
    assert_int_equal(num_deleted, num_taken);
    return status;
}

/* One element as many: what a kernel can only be given a copy of. */
typedef struct repeated {
    fer_dl_managed_tensor managed;
    float element;
    int64_t extent;
    int64_t stride;
} repeated;

static fer_status import_repeated(repeated *made, int64_t extent, fer_tensor **out_tensor,
                                  fer_error *own)
{
    *made = (repeated){.element = 1, .extent = extent};
    made->managed = (fer_dl_managed_tensor){
        .dl_tensor = {.data = &made->element,
                      .device = {.device_type = 1},
                      .ndim = 1,
                      .dtype = {fer_dtype_dlpack_code(FER_F32), 32, 1},
                      .shape = &made->extent,
                      .strides = &made->stride},
        .deleter = delete_old,
    };
    num_deleted = 0;
    return fer_tensor_from_dlpack(&made->managed, FER_DL_COPY_IF_NEEDED, out_tensor, own);
}

static fer_status use_strided(fer_error *own)
{
    repeated ones;
    fer_tensor *tensors[4] = {NULL};
    char *text = NULL;
    fer_status status = import_repeated(&ones, 3, &tensors[0], own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_tensor_print(tensors[0], &text, own));
    assert_string_equal(text, "f32[3]\n[1, 1, 1]");
    FER_TRY_DONE(fer_tensor_compact(tensors[0], &tensors[1], own));
    FER_TRY_DONE(fer_npy_write(at("x.npy"), tensors[0], own));
    FER_TRY_DONE(fer_npy_read(at("x.npy"), &tensors[2], own));
    FER_TRY_DONE(fer_tensor_reshape(tensors[0], 2, (int64_t[]){1, -1}, &tensors[3], own));
    for (size_t i = 1; i < 4; i++)
        assert_memory_equal(fer_tensor_const_data(tensors[i]), ((float[]){1, 1, 1}), 12);

done:
    assert_int_equal(num_deleted, 0);
    bool is_taken = tensors[0] != NULL;
    release_tensors(4, tensors);
    assert_int_equal(num_deleted, is_taken);
    fer_string_free(text);
    return status;
}

static void test_tensors(void **state)
{
    (void)state;
    REFUSE_EACH(use_tensors);
    REFUSE_EACH(use_npy);
    REFUSE_EACH(use_dlpack);
    REFUSE_EACH(use_strided);
}

/* --- Packages and ops ------------------------------------------------------------------------- */

static const char PACKAGE[] =
    "#include <ferrule/kernel.h>\n"
    "#include \"../beside.h\"\n"
    "SIGNATURE(scale, \"<T: f32|f64, by: int = 3>(x: T[n]) -> T[n]\");\n"
    "PARAM(int, by, 3);\n"
    "DTYPE_VAR(T, f32);\n"
    "MAP(scale, T, IN(T, x)) { return x * by + BESIDE; }\n"
    "SIGNATURE(kept, \"(x: f32[n]) -> f32[k]\");\n"
    "SHAPE(kept, IN(f32, 1, x)) { EXTENT(k) = DIM(x, 0) / 2; return OK; }\n"
    "KERNEL(kept, OUT(f32, 1, y), IN(f32, 1, x))\n"
    "{\n"
    "    f32 *copy = SCRATCH(f32, DIM(x, 0));\n"
    "    for (index_t i = 0; i < DIM(y, 0); i++)\n"
    "        AT(y, i) = copy[i] = AT(x, 2 * i);\n"
    "    return OK;\n"
    "}\n"
    "SIGNATURE(overruns, \"(x: f32[]) -> f32[]\");\n"
    "KERNEL(overruns, OUT(f32, 0, y), IN(f32, 0, x)) { DATA(y)[1] = AT(y) = AT(x); return OK; }\n"
    "SIGNATURE(refused, \"(x: f32[n]) -> f32[n]\");\n"
    "KERNEL(refused, OUT(f32, 1, y), IN(f32, 1, x)) { FAIL(\"never %d\", (int)DIM(x, 0)); }\n";
static const char WRAPPED[] = "#include <ferrule/kernel.h>\n"
                              "#define WRAPPED(name) KERNEL(name, OUT(f32, 0, y), IN(f32, 0, x)) { "
                              "AT(y) = AT(x); return OK; }\n"
                              "WRAPPED(same)\n";

static void write_package(void)
{
    use_remembering_compiler("");
    write_file("p/kernels.c", PACKAGE);
    write_file("beside.h", "#define BESIDE 1\n");
    write_file("q/wrapped.c", WRAPPED);
    write_file("program.fer", "use \"q\"\n"
                              "op same(x: f32[]) -> f32[]\n"
                              "graph g(x: f32[]) -> f32[] {\n"
                              "  y = same(x)\n"
                              "  return y\n"
                              "}\n");
}

static fer_status use_packages(fer_error *own)
{
    fer_package *package = NULL;
    fer_status status = fer_package_open(at("p"), &package, own);
    if (status == FER_OK)
        assert_int_equal(fer_package_num_kernels(package), 4);
    fer_package_release(package);
    if (status == FER_OK) {
        status = fer_package_open(at("q"), &package, own);
        fer_package_release(package);
    }
    return status;
}

static fer_status use_sources(fer_error *own)
{
    static const char TWICE[] = "#include <ferrule/kernel.h>\n"
                                "SIGNATURE(twice, \"(x: f32[n]) -> f32[n]\");\n"
                                "MAP(twice, f32, IN(f32, x)) { return 2 * x; }\n";
    fer_package *package = NULL;
    fer_op *op = NULL;
    fer_module *module = NULL;
    fer_status status = fer_package_from_source(TWICE, &package, own);
    FER_TRY_DONE(status);
    assert_string_equal(fer_package_kernel(package, 0).name, "twice");
    FER_TRY_DONE(fer_declare(&(fer_declaration){.kernel = "twice", .source = TWICE}, &op, own));
    FER_TRY_DONE(fer_module_read(at("program.fer"), &module, own));
    assert_non_null(fer_module_find(module, "g"));

done:
    fer_package_release(package);
    fer_op_release(op);
    fer_module_release(module);
    return status;
}

static fer_status declare(const char *kernel, const char *package, fer_op **out_op, fer_error *own)
{
    return fer_declare(&(fer_declaration){.kernel = kernel, .packages = {at(package)}}, out_op,
                       own);
}

static fer_status use_declarations(fer_error *own)
{
    fer_op *op = NULL;
    fer_op *special = NULL;
    fer_op *wrapped = NULL;
    char *path = NULL;
    fer_status status = declare("scale", "p", &op, own);
    FER_TRY_DONE(status);
    fer_param four = int_param("by", 4);
    FER_TRY_DONE(fer_op_specialise(op, &four, 1, &special, own));
    FER_TRY_DONE(fer_declare(
        &(fer_declaration){.signature = "same(x: f32[]) -> f32[]", .packages = {at("q")}}, &wrapped,
        own));
    FER_TRY_DONE(fer_cache_path(&path, own));

done:
    fer_op_release(op);
    fer_op_release(special);
    fer_op_release(wrapped);
    fer_string_free(path);
    return status;
}

/* The first call with a dtype finds another kernel; refused calls have a message to make. */
static fer_status use_calls(fer_error *own)
{
    fer_op *ops[3] = {NULL};
    fer_tensor *x = NULL;
    fer_tensor *deep = NULL;
    fer_tensor *strided = NULL;
    repeated ones;
    fer_tensor *results[4] = {NULL};
    fer_argument result = {.as.tensor = NULL};
    int64_t shape[1] = {LARGE / 4};
    is_paused = true; /* declaring is another scenario */
    fer_status status = declare("scale", "p", &ops[0], own);
    if (status == FER_OK)
        status = declare("kept", "p", &ops[1], own);
    if (status == FER_OK)
        status = declare("refused", "p", &ops[2], own);
    is_paused = false;
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_tensor_ones(FER_F32, 1, shape, host, &x, own));
    FER_TRY_DONE(fer_tensor_ones(FER_F64, 1, shape, host, &deep, own));
    FER_TRY_DONE(fer_call(ops[0], &x, 1, &results[0], 1, own));
    FER_TRY_DONE(fer_call(ops[0], &deep, 1, &results[1], 1, own));
    assert_true(((const double *)fer_tensor_const_data(results[1]))[7] == 4);
    status = fer_call(ops[1], &x, 1, &results[2], 1, own);
    /* A kernel that gets no memory fails, as any kernel does: with its own words. */
    if (status == FER_RUNTIME_ERROR && strstr(own->message, "memory") != NULL)
        status = FER_MEMORY_ERROR, fer_error_clear(own), fer_fail_memory(own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_call_into(ops[0], &x, 1, &results[0], 1, own));
    FER_TRY_DONE(import_repeated(&ones, shape[0], &strided, own));
    FER_TRY_DONE(fer_call(ops[0], &strided, 1, &results[3], 1, own));
    FER_TRY_DONE(fer_call_into(ops[0], &strided, 1, &results[0], 1, own));
    assert_memory_equal(fer_tensor_const_data(results[3]), fer_tensor_const_data(results[0]),
                        LARGE);
    fer_argument argument = {.kind = FER_ARGUMENT_TENSOR, .keyword = "x", .as.tensor = x};
    FER_TRY_DONE(fer_apply(ops[0], &argument, 1, &result, 1, own));
    FER_TRY_DONE(fer_apply_into(ops[0], &argument, 1, &results[0], 1, own));
    fer_tensor *refused = NULL;
    status = fer_call(ops[2], &x, 1, &refused, 1, own);
    if (status == FER_RUNTIME_ERROR)
        status = fer_call(ops[1], &deep, 1, &refused, 1, own);
    assert_int_not_equal(status, FER_OK);
    if (status == FER_VALUE_ERROR) {
        fer_error_clear(own);
        status = FER_OK;
    }

done:
    for (size_t i = 0; i < 3; i++)
        fer_op_release(ops[i]);
    bool is_taken = strided != NULL;
    RELEASE(x, deep, strided, results[0], results[1], results[2], results[3], result.as.tensor);
    assert_true(!is_taken || num_deleted == 1);
    return status;
}

/* The same on copies, and what is said of a fault. */
static fer_status use_checked_calls(fer_error *own)
{
    fer_op *op = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    fer_set_checking(true);
    fer_status status = declare("overruns", "p", &op, own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(use_calls(own));
    FER_TRY_DONE(fer_tensor_ones(FER_F32, 0, NULL, host, &x, own));
    status = fer_call(op, &x, 1, &y, 1, own);
    assert_int_not_equal(status, FER_OK);
    if (status == FER_RUNTIME_ERROR && strstr(own->message, "wrote element 1 (") != NULL)
        status = FER_OK, fer_error_clear(own);

done:
    fer_set_checking(false);
    fer_op_release(op);
    RELEASE(x, y);
    return status;
}

static void test_packages_and_ops(void **state)
{
    (void)state;
    write_package();
    REFUSE_EACH(use_packages);
    REFUSE_EACH(use_sources);
    REFUSE_EACH(use_declarations);
    REFUSE_EACH(use_calls);
    REFUSE_EACH(use_checked_calls);
}

/* --- Shared objects, package.ini and the overlay ---------------------------------------------- */

static void write_object(void)
{
    static const char DATA[] = FERRULE_TEST_DATA;
    char command[1024];
    snprintf(command, sizeof command,
             "cc -shared -fPIC '-I%s/../include' '%s/kernels/object/table.c' -o '%s'", DATA, DATA,
             at("lib.so"));
    assert_int_equal(system(command), 0);
}

static fer_status use_object(fer_error *own)
{
    fer_op *op = NULL;
    fer_op *scale = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    fer_status status = declare("value", "lib.so", &op, own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(
        fer_declare(&(fer_declaration){.signature = "scale<T: f32|f64, by: int = 4>(x: T[]) -> T[]",
                                       .packages = {at("lib.so")}},
                    &scale, own));
    fer_number number = {.kind = FER_NUMBER_INT, .value.as_int = 6};
    FER_TRY_DONE(fer_tensor_scalar(FER_I32, host, number, &x, own));
    FER_TRY_DONE(fer_call(op, &x, 1, &y, 1, own));
    assert_int_equal(*(const int32_t *)fer_tensor_const_data(y), 7);

done:
    fer_op_release(op);
    fer_op_release(scale);
    RELEASE(x, y);
    return status;
}

static fer_status use_overlay(fer_error *own)
{
    fer_package *package = NULL;
    fer_overlay *overlay = NULL;
    fer_op *op = NULL;
    fer_op *none = NULL;
    fer_status status = fer_package_open(at("lib.so"), &package, own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_overlay_add(package, &overlay, own));
    FER_TRY_DONE(fer_declare(
        &(fer_declaration){.signature = "value(x: i32[]) -> i32[]", .packages = {at("q")}}, &op,
        own));
    status = fer_declare(&(fer_declaration){.signature = "values(x: i32[]) -> i32[]"}, &none, own);
    assert_int_not_equal(status, FER_OK);
    if (status == FER_VALUE_ERROR) {
        fer_error_clear(own);
        status = FER_OK;
    }

done:
    fer_overlay_remove(overlay);
    fer_package_release(package);
    fer_op_release(op);
    return status;
}

static fer_status use_settings(fer_error *own)
{
    fer_op *op = NULL;
    fer_status status = declare("number", "r", &op, own);
    fer_op_release(op);
    return status;
}

static void test_packages_of_others(void **state)
{
    (void)state;
    write_package();
    write_object();
    write_file("inc/number.h", "#define NUMBER 3\n");
    write_file("r/package.ini", "[build]\n"
                                "cflags = -I../first -I ../inc '-DMORE=4' # so\n"
                                "libs = -L. -L ../inc\n  -lm\n");
    write_file("r/number.c", "#include <ferrule/kernel.h>\n#include <number.h>\n"
                             "SIGNATURE(number, \"(x: i32[n]) -> i32[n]\");\n"
                             "MAP(number, i32, IN(i32, x)) { return x + NUMBER + MORE; }\n");
    REFUSE_EACH(use_object);
    REFUSE_EACH(use_overlay);
    REFUSE_EACH(use_settings);
}

/* --- Graphs and models ------------------------------------------------------------------------ */

static fer_status use_built_graph(fer_error *own)
{
    fer_op *op = NULL;
    fer_module *module = NULL;
    fer_module *again[2] = {NULL};
    fer_type *type = NULL;
    fer_dim *dim = NULL;
    fer_tensor *constant = NULL;
    char *text = NULL;
    fer_graph *graph;
    fer_value *values[4];
    int64_t shape[1] = {1025}; /* in a file of its own, when it is written */
    is_paused = true;
    fer_status status = declare("scale", "p", &op, own);
    is_paused = false;
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_module_create(&module, own));
    FER_TRY_DONE(fer_type_parse("f32[n]", &type, own));
    fer_graph_input input = {.name = "x", .type = type};
    FER_TRY_DONE(fer_graph_create(module, "g", &input, 1, &graph, own));
    values[0] = fer_graph_input_at(graph, 0);
    FER_TRY_DONE(fer_graph_stage(graph, op, &values[0], 1, &values[1], 1, own));
    FER_TRY_DONE(fer_dim_constant(4, &dim, own));
    FER_TRY_DONE(
        fer_graph_rebind(graph, values[1], (const fer_dim *const *)&dim, 1, &values[2], own));
    FER_TRY_DONE(fer_tensor_ones(FER_F32, 1, shape, host, &constant, own));
    FER_TRY_DONE(fer_graph_constant(graph, constant, &values[0], own));
    FER_TRY_DONE(fer_graph_transfer(graph, values[1], host, &values[3], own));
    FER_TRY_DONE(fer_graph_output(graph, values, 4, own));
    FER_TRY_DONE(fer_module_print(module, &text, own));
    FER_TRY_DONE(fer_module_parse(text, "text", folder, &again[0], own));
    FER_TRY_DONE(fer_module_write(module, at("written.fer"), own));
    FER_TRY_DONE(fer_module_read(at("written.fer"), &again[1], own));
    for (size_t i = 0; i < 2; i++)
        assert_true(fer_module_equal(module, again[i]));

done:
    fer_op_release(op);
    fer_module_release(module);
    fer_module_release(again[0]);
    fer_module_release(again[1]);
    fer_type_release(type);
    fer_dim_release(dim);
    fer_tensor_release(constant);
    fer_string_free(text);
    return status;
}

static const char PROGRAM[] = "use \"p\"\n"
                              "op scale<T: f32|f64, by: int = 3>(x: T[n]) -> T[n]\n"
                              "graph plain(x: f32[m], c: bool[]) {\n"
                              "  y = while y = x { yield c } do { a = scale(y) yield a }\n"
                              "  return y\n"
                              "}\n"
                              "graph h(x: f32[m], c: bool[]) {\n"
                              "  f = kept(x)\n"
                              "  y = if c { a = scale(x) r = rebind a [q] yield r }\n"
                              "  else { r = rebind x [q] yield r }\n"
                              "  z = rebind y [m]\n"
                              "  return z, f, x\n"
                              "}\n"
                              "graph g(x: f32[n], k: f32[4], c: bool[]) -> (f32[n], f32[4]) {\n"
                              "  a = scale(x)\n"
                              "  t = scale(a)\n"
                              "  moved = transfer t @ 0\n"
                              "  b = scale<by = 4>(moved)\n"
                              "  f = kept(b)\n"
                              "  k2 = scale(k)\n"
                              "  p = rebind f [4]\n"
                              "  q = reshape p [-1, 2]\n"
                              "  d = reshape q [4]\n"
                              "  s, go = while s = b, go = c { yield go } do {\n"
                              "    no = constant bool[] [false]\n"
                              "    u, v, w = call h(s, no)\n"
                              "    yield u, no\n"
                              "  }\n"
                              "  u, v, w = call h(s, go)\n"
                              "  return w, d\n"
                              "}\n";

static fer_status use_program(fer_error *own)
{
    fer_module *module = NULL;
    fer_model *model = NULL;
    fer_tensor *inputs[3] = {NULL};
    fer_graph *copy;
    fer_tensor *outputs[2] = {NULL};
    repeated ones;
    int64_t half[1] = {4};
    fer_status status = fer_module_parse(PROGRAM, "program", folder, &module, own);
    FER_TRY_DONE(status);
    FER_TRY_DONE(fer_model_create(fer_module_find(module, "g"), NULL, &model, own));
    FER_TRY_DONE(fer_graph_copy(module, fer_module_find(module, "plain"), "p", &copy, own));
    FER_TRY_DONE(import_repeated(&ones, 8, &inputs[0], own));
    FER_TRY_DONE(fer_tensor_ones(FER_F32, 1, half, host, &inputs[1], own));
    FER_TRY_DONE(fer_tensor_ones(FER_BOOL, 0, NULL, host, &inputs[2], own));
    for (int i = 0; i < 2; i++) {
        status = fer_model_run(model, inputs, 3, outputs, 2, own);
        if (status == FER_RUNTIME_ERROR && strstr(own->message, "memory") != NULL)
            status = FER_MEMORY_ERROR, fer_error_clear(own), fer_fail_memory(own);
        FER_TRY_DONE(status);
        assert_true(((const float *)fer_tensor_const_data(outputs[1]))[3] == 53);
        RELEASE(outputs[0], outputs[1]);
        outputs[0] = outputs[1] = NULL;
    }

done:
    RELEASE(inputs[0], inputs[1], outputs[0], outputs[1]);
    fer_tensor_release(inputs[2]);
    fer_model_release(model);
    fer_module_release(module);
    return status;
}

static void test_graphs_and_models(void **state)
{
    (void)state;
    write_package();
    REFUSE_EACH(use_built_graph);
    REFUSE_EACH(use_program);
}

/* --- A build ---------------------------------------------------------------------------------- */

static fer_status use_build(fer_error *own)
{
    static const char *const KINDS[] = {"cache/entries", "cache/manifests", "cache/described",
                                        "cache/compilers"};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        fer_folder_remove(at(KINDS[i]));
    fer_op *op = NULL;
    fer_op *wrapped = NULL;
    fer_status status = declare("scale", "p", &op, own);
    if (status == FER_OK)
        status = fer_declare(
            &(fer_declaration){.signature = "same(x: f32[]) -> f32[]", .packages = {at("q")}},
            &wrapped, own);
    fer_op_release(op);
    fer_op_release(wrapped);
    return status;
}

static void test_a_build(void **state)
{
    (void)state;
    const char *path;
    write_package();
    ASSERT_OK(&error, fer_private_folder(&path, &error)); /* made once for the process */
    refuse_each("use_build", use_build, num_builds == 0 ? 1 : num_builds);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        num_builds = strtoull(argv[1], NULL, 10) / 20;
    const struct CMUnitTest tests[] = {
        TEST(test_dims_types_and_signatures), TEST(test_tensors),
        TEST(test_packages_and_ops),          TEST(test_packages_of_others),
        TEST(test_graphs_and_models),         TEST(test_a_build),
    };
    return cmocka_run_group_tests(tests, set_up_remembering, tear_down_remembering);
}
