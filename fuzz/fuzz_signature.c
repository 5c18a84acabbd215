/* A declaration of any bytes is refused or makes a signature that survives its own print, any
 * parameter values and any operand types. */
#include "signature/unify.h"

#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_round_trip(const fer_signature *signature)
{
    fer_signature *again;
    REQUIRE(fer_signature_parse(fer_signature_text(signature), &again, NULL) == FER_OK);
    REQUIRE(fer_signature_equal(signature, again));
    REQUIRE(strcmp(fer_signature_text(signature), fer_signature_text(again)) == 0);
    fer_signature_release(again);

    REQUIRE(fer_signature_create(fer_signature_declared(signature), &again, NULL) == FER_OK);
    REQUIRE(fer_signature_equal(signature, again));
    fer_signature_release(again);
}

/* The parameter's value drawn from one byte. */
static fer_param draw_param(const fer_param *declared, uint8_t byte)
{
    static const int64_t INTS[] = {0, 1, 2, 3, -1, -7, 8, INT64_MAX, INT64_MIN, 4294967296};
    static const double FLOATS[] = {0.0, -0.0, 1e-5, 3.0, 1e300};
    fer_param param = {.name = declared->name, .kind = declared->kind, .has_value = true};
    switch (declared->kind) {
    case FER_PARAM_INT:
        param.value.as_int = INTS[byte % (sizeof INTS / sizeof *INTS)];
        break;
    case FER_PARAM_FLOAT:
        param.value.as_float = FLOATS[byte % (sizeof FLOATS / sizeof *FLOATS)];
        break;
    case FER_PARAM_BOOL:
        param.value.as_bool = byte % 2 == 1;
        break;
    case FER_PARAM_STR:
        param.value.as_str = (fer_string){"a\0\"\xff", byte % 5};
        break;
    case FER_PARAM_DTYPE:
        param.value.as_dtype = (fer_dtype)(1 + byte % (FER_NUM_DTYPES - 1));
        break;
    }
    return param;
}

static fer_dim *draw_dim(uint8_t byte)
{
    static const char *const DIMS[] = {"0", "1", "2",     "3",      "8",         "4294967296",
                                       "n", "w", "n + 1", "n // 2", "2 * w * n", "n % 3"};
    fer_dim *dim;
    REQUIRE(fer_dim_parse(DIMS[byte % (sizeof DIMS / sizeof *DIMS)], &dim, NULL) == FER_OK);
    return dim;
}

/* A type that fits the template, but for bytes that say otherwise. */
static fer_type *draw_type(const fer_template *type, const uint8_t *data, size_t size)
{
    fer_dim *dims[FER_MAX_RANK];
    size_t rank = 0;
    for (size_t i = 0; i < type->num_axes && rank < FER_MAX_RANK; i++) {
        uint8_t byte = data[i % size];
        const fer_axis *axis = &type->axes[i];
        size_t count = axis->run == NULL ? 1 : byte % 4u;
        for (size_t j = 0; j < count && rank < FER_MAX_RANK; j++) {
            bool fits = axis->dim != NULL && fer_dim_is_static(axis->dim) && byte % 8 != 0;
            dims[rank++] = fits ? fer_dim_retain(axis->dim) : draw_dim(byte);
        }
    }
    fer_dtype dtype = type->dtype;
    if (dtype == FER_DTYPE_INVALID || data[0] % 16 == 0)
        dtype = (fer_dtype)(1 + data[0] % (FER_NUM_DTYPES - 1));
    fer_type *drawn = NULL;
    fer_status status =
        fer_type_create(dtype, rank, (const fer_dim *const *)dims, (fer_device){0}, &drawn, NULL);
    REQUIRE((status == FER_OK) == (drawn != NULL));
    while (rank > 0)
        fer_dim_release(dims[--rank]);
    return drawn;
}

static void infer(const fer_signature *signature, const uint8_t *data, size_t size)
{
    const fer_signature_spec *spec = fer_signature_folded(signature);
    fer_type *operands[FER_MAX_OPERANDS] = {NULL};
    fer_type *results[FER_MAX_OPERANDS] = {NULL};
    for (size_t i = 0; i < spec->num_operands; i++)
        operands[i] = draw_type(&spec->operands[i].type, data + i % size, size - i % size);
    fer_error error = FER_ERROR_INIT;
    fer_status status = fer_signature_infer(signature, (const fer_type *const *)operands,
                                            spec->num_operands, results, spec->num_results, &error);
    for (size_t i = 0; i < spec->num_results; i++) {
        REQUIRE((status == FER_OK) == (results[i] != NULL));
        fer_type_release(results[i]);
    }
    if (status != FER_OK) /* every refusal names the op */
        REQUIRE(strncmp(error.message, spec->name, strlen(spec->name)) == 0);
    fer_error_clear(&error);
    for (size_t i = 0; i < spec->num_operands; i++)
        fer_type_release(operands[i]);
}

static void specialise(const fer_signature *signature, const uint8_t *data, size_t size)
{
    const fer_signature_spec *spec = fer_signature_folded(signature);
    fer_param params[64];
    for (size_t i = 0; i < spec->num_params; i++)
        params[i] = draw_param(&spec->params[i], data[i % size]);
    fer_signature *special;
    if (fer_signature_specialise(signature, params, spec->num_params, &special, NULL) != FER_OK)
        return;
    REQUIRE(fer_signature_is_complete(special));
    check_round_trip(special);
    infer(special, data, size);
    fer_signature_release(special);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096)
        return 0;
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    fer_error error = FER_ERROR_INIT;
    fer_signature *signature;
    fer_status status = fer_signature_parse(text, &signature, &error);
    free(text);
    if (status == FER_OK) {
        check_round_trip(signature);
        infer(signature, data, size);
        specialise(signature, data, size);
    } else {
        REQUIRE(signature == NULL && error.message != NULL);
    }
    fer_error_clear(&error);
    fer_signature_release(signature);
    return 0;
}
