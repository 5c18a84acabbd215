/* A package in a shared object, without ferrule/kernel.h: the table of ferrule/abi.h by hand. The
 * variable FAULT names what is to be wrong with it. */
#include <ferrule/abi.h>

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#ifndef ADDED
#define ADDED 1
#endif

/* Exported, so that a neighbour with the same name would take its place if symbols were shared. */
EXPORT int helper(void);
EXPORT int helper(void)
{
    return ADDED;
}

static int run_value(fer_context *context, const fer_dl_tensor *const *tensors)
{
    (void)context;
    *(int32_t *)tensors[0]->data = *(const int32_t *)tensors[1]->data + helper();
    return 0;
}

/* scale<T, by: int, mode: str, how: float, on: bool>: which of its entries serves is its result. */
#define SCALE(number)                                                                              \
    static int run_scale_##number(fer_context *context, const fer_dl_tensor *const *tensors)       \
    {                                                                                              \
        (void)context;                                                                             \
        if (tensors[0]->dtype.bits == 32)                                                          \
            *(float *)tensors[0]->data = number;                                                   \
        else                                                                                       \
            *(double *)tensors[0]->data = number;                                                  \
        return 0;                                                                                  \
    }
SCALE(1)
SCALE(2)
SCALE(3)
SCALE(4)

static int run_keep(fer_context *context, const fer_dl_tensor *const *tensors)
{
    const float *from = tensors[1]->data;
    float *to = tensors[0]->data;
    for (int64_t i = 0; i < tensors[1]->shape[0]; i++) {
        if (from[i] != from[i])
            return context->fail(context, "table.c", 7, "element %lld is no number", (long long)i);
        if (from[i] > 0)
            *to++ = from[i];
    }
    return 0;
}

static int shape_keep(fer_context *context, const fer_dl_tensor *const *tensors)
{
    const float *from = tensors[0]->data;
    int64_t kept = 0;
    for (int64_t i = 0; i < tensors[0]->shape[0]; i++)
        kept += !(from[i] <= 0);
    *context->extent(context, "kept") = kept;
    return 0;
}

static fer_abi_tensor value_tensors[] = {{"y", FER_ABI_RESULT, 0, {0, 32, 1}, 0},
                                         {"x", FER_ABI_OPERAND, 0, {0, 32, 1}, 0}};
static const fer_abi_tensor f32_tensors[] = {{"y", FER_ABI_RESULT, 0, {2, 32, 1}, 0},
                                             {"x", FER_ABI_OPERAND, 0, {2, 32, 1}, 0}};
static const fer_abi_tensor f64_tensors[] = {{"y", FER_ABI_RESULT, 0, {2, 64, 1}, 0},
                                             {"x", FER_ABI_OPERAND, 0, {2, 64, 1}, 0}};
static const fer_abi_tensor keep_tensors[] = {{"y", FER_ABI_RESULT, 1, {2, 32, 1}, 0},
                                              {"x", FER_ABI_OPERAND, 1, {2, 32, 1}, 0}};
static const fer_abi_tensor keep_operands[] = {{"x", FER_ABI_OPERAND, 1, {2, 32, 1}, 0}};

static fer_abi_param of_f32[] = {{"T", FER_ABI_DTYPE, 0, {.as_dtype = {2, 32, 1}}}};
static const fer_abi_param of_f64[] = {{"T", FER_ABI_DTYPE, 0, {.as_dtype = {2, 64, 1}}}};
static const fer_abi_param of_all[] = {
    {"T", FER_ABI_DTYPE, 0, {.as_dtype = {2, 32, 1}}},
    {"by", FER_ABI_INT, 0, {.as_int = -3}},
    {"mode", FER_ABI_STR, 3, {.as_str = "a\0b"}},
    {"how", FER_ABI_FLOAT, 0, {.as_float = -0.0}},
    {"on", FER_ABI_BOOL, 0, {.as_int = 1}},
};
static const fer_abi_param of_f32_by_4[] = {{"T", FER_ABI_DTYPE, 0, {.as_dtype = {2, 32, 1}}},
                                            {"by", FER_ABI_INT, 0, {.as_int = 4}}};

#define ENTRY(...)                                                                                 \
    {                                                                                              \
        .struct_bytes = sizeof(fer_abi_entry), .num_tensors = 2, __VA_ARGS__                       \
    }
static fer_abi_entry value = ENTRY(.name = "value", .run = run_value, .tensors = value_tensors,
                                   .signature = "value(x: i32[]) -> i32[]");
static fer_abi_entry scale_f32 = ENTRY(.name = "scale", .run = run_scale_1, .tensors = f32_tensors,
                                       .num_params = 1, .params = of_f32);
static const fer_abi_entry scale_f64 =
    ENTRY(.name = "scale", .run = run_scale_2, .tensors = f64_tensors, .num_params = 1,
          .params = of_f64);
static const fer_abi_entry scale_all =
    ENTRY(.name = "scale", .run = run_scale_3, .tensors = f32_tensors, .num_params = 5,
          .params = of_all);
static const fer_abi_entry scale_by_4 =
    ENTRY(.name = "scale", .run = run_scale_4, .tensors = f32_tensors, .num_params = 2,
          .params = of_f32_by_4);
static const fer_abi_entry keep =
    ENTRY(.name = "keep", .run = run_keep, .tensors = keep_tensors, .file = "keep.ada", .line = 12,
          .signature = "keep(x: f32[n]) -> f32[kept]");
static fer_abi_entry keep_shape = ENTRY(.name = "keep", .kind = FER_ABI_SHAPE, .run = shape_keep,
                                        .tensors = keep_operands, .num_tensors = 1);

static const fer_abi_entry *const entries[] = {&value,     &scale_f32,  NULL,  &scale_f64,
                                               &scale_all, &scale_by_4, &keep, &keep_shape};
static const fer_abi_entry *const twice[] = {&scale_f32, &scale_f64, &scale_f32};

static fer_abi_table table = {FER_ABI_VERSION, sizeof(fer_abi_table), entries, entries + 8};

EXPORT const fer_abi_table *ferrule_package_table(void);
EXPORT const fer_abi_table *ferrule_package_table(void)
{
    const char *fault = getenv("FAULT");
    if (fault == NULL)
        return &table;
#define FAULT(name, ...)                                                                           \
    if (strcmp(fault, name) == 0) {                                                                \
        __VA_ARGS__;                                                                               \
    }
    FAULT("null", return NULL)
    FAULT("version", table.abi_version = 2)
    FAULT("table bytes", table.struct_bytes = 8)
    FAULT("order", table.begin = entries + 1; table.end = entries)
    FAULT("empty", table.begin = NULL; table.end = NULL)
    FAULT("twice", table.begin = twice; table.end = twice + 3)
    FAULT("entry bytes", value.struct_bytes = 40)
    FAULT("no name", value.name = NULL)
    FAULT("name", value.name = "two words")
    FAULT("kind", value.kind = 9)
    FAULT("no run", value.run = NULL)
    FAULT("no tensors", value.tensors = NULL)
    FAULT("many tensors", value.num_tensors = 17)
    FAULT("none", value.num_tensors = 0)
    FAULT("tensor name", value_tensors[1].name = NULL)
    FAULT("role", value_tensors[1].role = 7)
    FAULT("result last", value_tensors[0].role = FER_ABI_OPERAND;
          value_tensors[1].role = FER_ABI_RESULT)
    FAULT("shape role", keep_shape.tensors = keep_tensors; keep_shape.num_tensors = 2)
    FAULT("rank", value_tensors[1].rank = 9)
    FAULT("dtype", value_tensors[1].dtype.bits = 33)
    FAULT("lanes", value_tensors[1].dtype.lanes = 2)
    FAULT("no params", scale_f32.params = NULL)
    FAULT("many params", scale_f32.num_params = 65)
    FAULT("param name", of_f32[0].name = NULL)
    FAULT("param kind", of_f32[0].kind = 5)
    FAULT("param dtype", of_f32[0].value.as_dtype.code = 77)
    FAULT("param str", of_f32[0].kind = FER_ABI_STR; of_f32[0].num_bytes = 1;
          of_f32[0].value.as_str = NULL)
    FAULT("signature", value.signature = "values(x: i32[]) -> i32[]")
    FAULT("bad signature", value.signature = "value(x: i32[)")
    return &table;
}
