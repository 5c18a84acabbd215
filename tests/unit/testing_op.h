/* What the tests of ops and packages share: short ways to declare, to make tensors and to look at
 * them, which fail the test when they cannot. */
#ifndef FERRULE_TESTING_OP_H
#define FERRULE_TESTING_OP_H

#include "testing.h"

#include <ferrule/op.h>

static fer_error error = FER_ERROR_INIT;
static const fer_device host = {0};

static inline fer_op *declare_source(const char *signature, const char *source)
{
    fer_op *op = NULL;
    ASSERT_OK(&error, fer_declare(&(fer_declaration){.signature = signature, .source = source}, &op,
                                  &error));
    return op;
}

/* The declaration is refused with this kind, and its message holds each of the words. */
#define ASSERT_NOT_DECLARED(kind, signature_text, source_text, ...)                                \
    do {                                                                                           \
        fer_op *refused = (fer_op *)&error; /* must be cleared */                                  \
        ASSERT_FAILS(&error, kind,                                                                 \
                     fer_declare(&(fer_declaration){.signature = (signature_text),                 \
                                                    .source = (source_text)},                      \
                                 &refused, &error),                                                \
                     __VA_ARGS__);                                                                 \
        assert_null(refused);                                                                      \
    } while (0)

/* A call for one result is refused with this kind, and gives none. */
#define ASSERT_CALL_FAILS(kind, op, num_operands, operands, ...)                                   \
    do {                                                                                           \
        fer_tensor *refused[16] = {(fer_tensor *)&error};                                          \
        ASSERT_FAILS(&error, kind, fer_call(op, operands, num_operands, refused, 1, &error),       \
                     __VA_ARGS__);                                                                 \
        assert_null(refused[0]);                                                                   \
    } while (0)

static inline fer_param int_param(const char *name, int64_t value)
{
    return (fer_param){
        .name = name, .kind = FER_PARAM_INT, .has_value = true, .value.as_int = value};
}

static inline fer_op *specialise_op(const fer_op *op, fer_param param)
{
    fer_op *made = NULL;
    ASSERT_OK(&error, fer_op_specialise(op, &param, 1, &made, &error));
    return made;
}

#define EXTENTS(...)                                                                               \
    sizeof((int64_t[]){__VA_ARGS__}) / 8, (const int64_t[])                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static inline fer_tensor *make_ones(fer_dtype dtype, size_t rank, const int64_t *extents)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_ones(dtype, rank, extents, host, &tensor, &error));
    return tensor;
}

/* 0, 1, 2, ... */
static inline fer_tensor *make_counting(fer_dtype dtype, int64_t count)
{
    fer_tensor *tensor = NULL;
    fer_number zero = {.kind = FER_NUMBER_INT};
    fer_number stop = {.kind = FER_NUMBER_INT, .value.as_int = count};
    fer_number one = {.kind = FER_NUMBER_INT, .value.as_int = 1};
    ASSERT_OK(&error, fer_tensor_arange(dtype, zero, stop, one, host, &tensor, &error));
    return tensor;
}

static inline fer_tensor *make_scalar(fer_dtype dtype, int64_t value)
{
    fer_tensor *tensor = NULL;
    fer_number number = {.kind = FER_NUMBER_INT, .value.as_int = value};
    ASSERT_OK(&error, fer_tensor_scalar(dtype, host, number, &tensor, &error));
    return tensor;
}

/* Borrows memory of the test as a writable tensor. */
static inline fer_tensor *make_view(fer_dtype dtype, size_t rank, const int64_t *extents,
                                    void *memory)
{
    fer_tensor *tensor = NULL;
    ASSERT_OK(&error, fer_tensor_borrow(dtype, rank, extents, memory, false, host, NULL, NULL,
                                        &tensor, &error));
    return tensor;
}

static inline void assert_extents(const fer_tensor *tensor, size_t rank, const int64_t *extents)
{
    assert_int_equal(fer_tensor_rank(tensor), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(fer_tensor_shape(tensor)[i], extents[i]);
}

static inline void assert_floats(const fer_tensor *tensor, size_t count, const float *values)
{
    assert_int_equal(fer_tensor_num_elements(tensor), count);
    assert_int_equal(fer_tensor_dtype(tensor), FER_F32);
    const float *data = fer_tensor_const_data(tensor);
    for (size_t i = 0; i < count; i++)
        assert_float_equal(data[i], values[i], 0);
}
#define FLOATS(...)                                                                                \
    sizeof((float[]){__VA_ARGS__}) / 4, (const float[])                                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static inline void release_tensors(size_t count, fer_tensor *const *tensors)
{
    for (size_t i = 0; i < count; i++)
        fer_tensor_release(tensors[i]);
}
#define RELEASE(...)                                                                               \
    release_tensors(sizeof((fer_tensor *[]){__VA_ARGS__}) / sizeof(fer_tensor *),                  \
                    (fer_tensor *[]){__VA_ARGS__})
#define OPERANDS(...) ((fer_tensor *[]){__VA_ARGS__})

#endif
