/* A DLPack struct of any numbers over a small piece of memory: the import is refused or right,
 * takes the struct on success only, reads as the memory does however it lies there, and can be
 * exported and comes back. Structs whose elements lie elsewhere in the address space are the
 * producer's lie, and are not tried where they would be read. */
#include <ferrule/dlpack.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_BYTES 1024
#define MAX_AXES 10
#define MAX_COPIED 4096 /* elements */

typedef __int128 wide;

static void require(bool holds)
{
    if (!holds)
        abort();
}

typedef struct input {
    const uint8_t *at;
    size_t size;
} input;

static uint8_t take_byte(input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->at++;
}

/* Mostly a small number, sometimes any. */
static int64_t take_number(input *in)
{
    uint8_t kind = take_byte(in);
    if (kind < 248)
        return (int64_t)kind % 16 - 4;
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | take_byte(in);
    return (int64_t)number;
}

static int num_deleted;

static void delete_old(fer_dl_managed_tensor *self)
{
    num_deleted++;
    free(self);
}

static void delete_versioned(fer_dl_managed_tensor_versioned *self)
{
    num_deleted++;
    free(self);
}

typedef struct given {
    fer_dl_tensor dl;
    int64_t shape[MAX_AXES];
    int64_t strides[MAX_AXES];
    fer_dl_copy copy;
    bool is_versioned;
    fer_dl_version version;
    uint64_t flags;
} given;

static void take_given(input *in, uint8_t *memory, given *made)
{
    *made = (given){.copy = (fer_dl_copy)(take_byte(in) % 4)};
    uint8_t choices = take_byte(in);
    made->is_versioned = (choices & 1) != 0;
    made->version = (fer_dl_version){(choices & 2) != 0 ? 1 : take_byte(in), take_byte(in)};
    made->flags = take_byte(in);
    uint8_t known = take_byte(in) % FER_NUM_DTYPES;
    made->dl = (fer_dl_tensor){
        .data = (choices & 4) != 0 ? NULL : memory,
        .device = {(choices & 8) != 0 ? (int32_t)take_number(in) : 1,
                   (choices & 16) != 0 ? (int32_t)take_number(in) : 0},
        .ndim = (int32_t)(take_byte(in) % (MAX_AXES + 1)),
        .dtype = {fer_dtype_dlpack_code(known), fer_dtype_dlpack_bits(known), 1},
        .shape = made->shape,
        .strides = (choices & 32) != 0 ? NULL : made->strides,
        .byte_offset = (uint64_t)take_number(in),
    };
    if ((choices & 64) != 0)
        made->dl.dtype = (fer_dl_dtype){take_byte(in), take_byte(in), take_byte(in)};
    if (made->dl.ndim == MAX_AXES)
        made->dl.ndim = (int32_t)take_number(in);
    if (made->dl.ndim >= 0 && made->dl.ndim <= MAX_AXES)
        for (int32_t i = 0; i < made->dl.ndim; i++) {
            made->shape[i] = take_number(in);
            made->strides[i] = take_number(in);
        }
}

/* What a slow reading of the struct makes of it. */
typedef struct reading {
    bool is_legal;   /* but for the address space */
    bool is_outside; /* some element lies outside the address space, or int64 counts no bytes */
    bool is_inside;  /* every element lies in the memory */
    bool is_compact;
    bool is_in_place;
    wide num_elements;
    wide first; /* byte of the element at index 0, from the memory's begin */
    wide strides[MAX_AXES];
    int64_t element_bytes;
} reading;

static bool is_legal(const given *made)
{
    const fer_dl_tensor *dl = &made->dl;
    if (dl->device.device_type != 1 || dl->device.device_id < 0 ||
        dl->device.device_id >= fer_device_count() || dl->ndim < 0 || dl->ndim > FER_MAX_RANK ||
        (made->is_versioned && made->version.major != 1) ||
        fer_dtype_from_dlpack(dl->dtype.code, dl->dtype.bits, dl->dtype.lanes) == FER_DTYPE_INVALID)
        return false;
    for (int32_t i = 0; i < dl->ndim; i++)
        if (dl->shape[i] < 0)
            return false;
    return true;
}

static wide count_elements(const fer_dl_tensor *dl)
{
    wide count = 1;
    for (int32_t i = 0; i < dl->ndim; i++)
        if (dl->shape[i] == 0)
            return 0;
    for (int32_t i = 0; i < dl->ndim && count <= INT64_MAX; i++)
        count *= dl->shape[i];
    return count;
}

static void measure(const fer_dl_tensor *dl, reading *made)
{
    const wide limit = (wide)UINT64_MAX + 1;
    wide lowest = 0, highest = made->element_bytes, stride = 1;
    made->is_compact = true;
    for (int32_t i = dl->ndim; i-- > 0;) {
        made->strides[i] = dl->strides == NULL ? stride : dl->strides[i];
        made->is_compact &= dl->shape[i] == 1 || made->strides[i] == stride;
        stride *= dl->shape[i];
        wide reach = made->strides[i] * (dl->shape[i] - 1);
        if (reach > limit || reach < -limit) {
            made->is_outside = true;
            return;
        }
        *(reach < 0 ? &lowest : &highest) += reach * made->element_bytes;
    }
    wide begin = (wide)(uintptr_t)dl->data + dl->byte_offset;
    made->first = dl->byte_offset;
    made->is_outside = begin + lowest < 0 || begin + highest >= limit || begin >= limit ||
                       made->num_elements * made->element_bytes > INT64_MAX || lowest < INT64_MIN ||
                       highest > INT64_MAX;
    made->is_inside =
        made->first + lowest >= 0 && made->first + highest <= MEMORY_BYTES && dl->data != NULL;
}

static reading read_slowly(const given *made)
{
    reading read = {.is_legal = is_legal(made)};
    if (!read.is_legal)
        return read;
    read.num_elements = count_elements(&made->dl);
    read.element_bytes = made->dl.dtype.bits / 8;
    if (read.num_elements == 0)
        read.is_inside = read.is_in_place = true;
    else if (made->dl.data == NULL)
        read.is_legal = false;
    else if (read.num_elements > INT64_MAX)
        read.is_outside = true;
    else
        measure(&made->dl, &read);
    read.is_in_place |=
        read.is_compact &&
        ((uintptr_t)made->dl.data + made->dl.byte_offset) % (uint64_t)read.element_bytes == 0;
    return read;
}

static bool is_taken(const given *made, const reading *read)
{
    return read->is_legal && !read->is_outside && made->copy <= FER_DL_COPY_ALWAYS &&
           (made->copy != FER_DL_COPY_NEVER || read->is_in_place);
}

static fer_status import(given *made, fer_tensor **out_tensor, fer_error *error, void **out_managed)
{
    if (made->is_versioned) {
        fer_dl_managed_tensor_versioned *managed = malloc(sizeof *managed);
        require(managed != NULL);
        *managed = (fer_dl_managed_tensor_versioned){.version = made->version,
                                                     .deleter = delete_versioned,
                                                     .flags = made->flags,
                                                     .dl_tensor = made->dl};
        *out_managed = managed;
        return fer_tensor_from_dlpack_versioned(managed, made->copy, out_tensor, error);
    }
    fer_dl_managed_tensor *managed = malloc(sizeof *managed);
    require(managed != NULL);
    *managed = (fer_dl_managed_tensor){.deleter = delete_old, .dl_tensor = made->dl};
    *out_managed = managed;
    return fer_tensor_from_dlpack(managed, made->copy, out_tensor, error);
}

/* The number of an element that lies in the memory is the one of its copy. */
static void check_number(const fer_tensor *tensor, const fer_tensor *copy, int64_t index)
{
    fer_number a = fer_tensor_element(tensor, index);
    fer_number b = fer_tensor_element(copy, index);
    require(a.kind == b.kind && (a.kind == FER_NUMBER_BOOL ? a.value.as_bool == b.value.as_bool
                                                           : a.value.as_uint == b.value.as_uint));
}

static void check_text(const fer_tensor *tensor, const fer_tensor *copy)
{
    char *text, *again;
    require(fer_tensor_print(tensor, &text, NULL) == FER_OK);
    require(fer_tensor_print(copy, &again, NULL) == FER_OK);
    require(strcmp(text, again) == 0);
    fer_string_free(text);
    fer_string_free(again);
}

static void check_elements(const given *made, const reading *read, const fer_tensor *tensor,
                           const uint8_t *memory)
{
    fer_tensor *copy;
    require(fer_tensor_clone(tensor, fer_tensor_device(tensor), &copy, NULL) == FER_OK);
    require(fer_tensor_is_compact(copy) && !fer_tensor_is_read_only(copy));
    const uint8_t *elements = fer_tensor_const_data(copy);
    for (int64_t i = 0; i < (int64_t)read->num_elements; i++) {
        wide place = 0;
        int64_t number = i;
        for (int32_t k = made->dl.ndim; k-- > 0;) {
            place += number % made->dl.shape[k] * read->strides[k];
            number /= made->dl.shape[k];
        }
        const uint8_t *from = memory + (size_t)(read->first + place * read->element_bytes);
        const uint8_t *to = elements + i * read->element_bytes;
        if (fer_tensor_dtype(tensor) == FER_BOOL)
            require(*to == (*from != 0));
        else
            require(memcmp(to, from, (size_t)read->element_bytes) == 0);
        check_number(tensor, copy, i);
    }
    check_text(tensor, copy);
    fer_tensor_release(copy);
}

/* Where the elements lie is what the struct says. */
static void check_place(const given *made, const reading *read, const fer_tensor *tensor)
{
    bool is_copy = made->copy == FER_DL_COPY_ALWAYS;
    int64_t strides[FER_MAX_RANK];
    fer_tensor_strides(tensor, strides);
    require(fer_tensor_is_compact(tensor) == (is_copy || read->is_in_place));
    if (is_copy || read->num_elements == 0)
        return;
    require(fer_tensor_const_data(tensor) ==
            (const char *)made->dl.data + (size_t)made->dl.byte_offset);
    for (int32_t i = 0; i < made->dl.ndim; i++)
        require(made->dl.shape[i] == 1 || strides[i] == read->strides[i]);
}

static void check_returns(fer_tensor *tensor)
{
    fer_dl_managed_tensor_versioned *managed;
    fer_tensor *again;
    require(fer_tensor_to_dlpack_versioned(tensor, false, &managed, NULL) == FER_OK);
    require(fer_tensor_from_dlpack_versioned(managed, FER_DL_COPY_IF_NEEDED, &again, NULL) ==
            FER_OK);
    int64_t strides[FER_MAX_RANK], strides_again[FER_MAX_RANK];
    fer_tensor_strides(tensor, strides);
    fer_tensor_strides(again, strides_again);
    require(memcmp(strides, strides_again, fer_tensor_rank(tensor) * sizeof *strides) == 0);
    require(fer_tensor_is_compact(again) == fer_tensor_is_compact(tensor));
    require(fer_tensor_dtype(again) == fer_tensor_dtype(tensor));
    require(fer_tensor_num_bytes(again) == fer_tensor_num_bytes(tensor));
    require(fer_tensor_is_read_only(again) == fer_tensor_is_read_only(tensor));
    require(fer_tensor_num_elements(tensor) == 0 ||
            fer_tensor_const_data(again) == fer_tensor_const_data(tensor));
    fer_tensor_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *memory = malloc(MEMORY_BYTES);
    require(memory != NULL);
    for (size_t i = 0; i < MEMORY_BYTES; i++)
        memory[i] = (uint8_t)(i * 7 + (i >> 8));
    input in = {data, size};
    given made;
    take_given(&in, memory, &made);
    reading read = read_slowly(&made);
    bool must_be_taken = is_taken(&made, &read);
    bool must_be_copied = must_be_taken && made.copy == FER_DL_COPY_ALWAYS;
    if (must_be_copied && (!read.is_inside || read.num_elements > MAX_COPIED)) {
        free(memory);
        return 0;
    }

    fer_error error = FER_ERROR_INIT;
    fer_tensor *tensor = NULL;
    void *managed = NULL;
    num_deleted = 0;
    fer_status status = import(&made, &tensor, &error, &managed);
    require((status == FER_OK) == must_be_taken);
    require((tensor != NULL) == must_be_taken && num_deleted == must_be_copied);
    if (status == FER_OK) {
        require(fer_tensor_num_elements(tensor) == (int64_t)read.num_elements);
        check_place(&made, &read, tensor);
        if (read.is_inside && read.num_elements <= MAX_COPIED)
            check_elements(&made, &read, tensor, memory);
        check_returns(tensor);
        fer_tensor_release(tensor);
        require(num_deleted == 1);
    } else {
        require(error.message != NULL);
        free(managed);
    }
    fer_error_clear(&error);
    free(memory);
    return 0;
}
