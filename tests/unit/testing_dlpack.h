/* A producer of DLPack structs in both generations, whose deleter counts, and frees the struct so
 * that the sanitizer sees every use after it. */
#ifndef FERRULE_TESTING_DLPACK_H
#define FERRULE_TESTING_DLPACK_H

#include "testing.h"

#include <ferrule/dlpack.h>
#include <stdatomic.h>

typedef enum generation { OLD, VERSIONED, NUM_GENERATIONS } generation;

typedef struct product {
    union {
        fer_dl_managed_tensor old;
        fer_dl_managed_tensor_versioned versioned;
    } managed;
    generation of;
    int64_t shape[16];
    int64_t strides[16];
} product;

static atomic_int num_deleted;

static inline void delete_old_product(fer_dl_managed_tensor *self)
{
    atomic_fetch_add(&num_deleted, 1);
    free(self->manager_ctx);
}

static inline void delete_versioned_product(fer_dl_managed_tensor_versioned *self)
{
    atomic_fetch_add(&num_deleted, 1);
    free(self->manager_ctx);
}

static inline fer_dl_tensor *dl_of(product *made)
{
    return made->of == OLD ? &made->managed.old.dl_tensor : &made->managed.versioned.dl_tensor;
}

/* A tensor over `data`; NULL strides for none. Sets the count of deleted ones to 0. */
static inline product *produce(generation of, fer_dtype dtype, int32_t rank, const int64_t *shape,
                               const int64_t *strides, const void *data)
{
    product *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->of = of;
    for (int32_t i = 0; i < rank; i++) {
        made->shape[i] = shape[i];
        made->strides[i] = strides == NULL ? 0 : strides[i];
    }
    if (of == OLD)
        made->managed.old =
            (fer_dl_managed_tensor){.manager_ctx = made, .deleter = delete_old_product};
    else
        made->managed.versioned = (fer_dl_managed_tensor_versioned){
            .version = {1, 0}, .manager_ctx = made, .deleter = delete_versioned_product};
    *dl_of(made) = (fer_dl_tensor){
        .data = (void *)(uintptr_t)data,
        .device = {.device_type = 1},
        .ndim = rank,
        .dtype = {fer_dtype_dlpack_code(dtype), fer_dtype_dlpack_bits(dtype), 1},
        .shape = rank == 0 ? NULL : made->shape,
        .strides = strides == NULL ? NULL : made->strides,
    };
    atomic_store(&num_deleted, 0);
    return made;
}

static inline fer_status take(product *made, fer_dl_copy copy, fer_tensor **out_tensor,
                              fer_error *error)
{
    if (made->of == OLD)
        return fer_tensor_from_dlpack(&made->managed.old, copy, out_tensor, error);
    return fer_tensor_from_dlpack_versioned(&made->managed.versioned, copy, out_tensor, error);
}

/* What the holder does after a refusal. */
static inline void discard(product *made)
{
    if (made->of == OLD)
        made->managed.old.deleter(&made->managed.old);
    else
        made->managed.versioned.deleter(&made->managed.versioned);
}

/* The import fails, and takes nothing. */
#define ASSERT_REFUSED(made, copy, kind, ...)                                                      \
    do {                                                                                           \
        fer_error refusal = FER_ERROR_INIT;                                                        \
        fer_tensor *none = (fer_tensor *)&refusal;                                                 \
        product *refused = (made);                                                                 \
        ASSERT_FAILS(&refusal, (kind), take(refused, (copy), &none, &refusal), __VA_ARGS__);       \
        assert_null(none);                                                                         \
        assert_int_equal(atomic_load(&num_deleted), 0);                                            \
        discard(refused);                                                                          \
        assert_int_equal(atomic_load(&num_deleted), 1);                                            \
    } while (0)

#endif
