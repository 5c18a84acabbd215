/* Writing kernels: what a package's C files include. docs/kernels.md is the manual.
 *
 *     SIGNATURE(halve, "(x: f32[n, w]) -> f32[n, w // 2]");
 *
 *     KERNEL(halve, OUT(f32, 2, y), IN(f32, 2, x))
 *     {
 *         for (index_t i = 0; i < DIM(y, 0); i++)
 *             for (index_t j = 0; j < DIM(y, 1); j++)
 *                 AT(y, i, j) = AT(x, i, 2 * j);
 *         return OK;
 *     }
 *
 * Plain C11 or later, for gcc and clang; in C++ there are the dtypes alone. It stands alone but for
 * abi.h and smallfloat.h, and declares nothing outside these words, the short dtype names and the
 * prefix fer_, so that kernels, operands and parameters may be called what they like.
 *
 * A file compiles in three ways. By itself every kernel is emitted, with the defaults of PARAM and
 * DTYPE_VAR. With FER_SPECIALISED only the kernels that a FER_WANT_<name> asks for are emitted, and
 * values come from FER_VALUE_<param> and FER_DTYPE_<variable>; such a macro is `~,value`, which
 * shifts what FER_SECOND and FER_THIRD pick. With FER_DESCRIBE, for the preprocessor alone, each
 * kernel becomes a mark that tells its name.
 */
#ifndef FERRULE_KERNEL_H
#define FERRULE_KERNEL_H

#include <ferrule/abi.h>
#include <ferrule/smallfloat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t index_t;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

/* What a kernel returns when all went well. */
enum { OK = 0 };

#ifdef __cplusplus

#define FER_KERNELS_ARE_C                                                                          \
    static_assert(false, "kernels are C; a package in C++ fills the table of ferrule/abi.h, see "  \
                         "docs/kernels.md")
#define KERNEL(name, ...) FER_KERNELS_ARE_C;
#define MAP(name, result, ...) FER_KERNELS_ARE_C;
#define SHAPE(name, ...) FER_KERNELS_ARE_C;
#define SIGNATURE(name, text) FER_KERNELS_ARE_C
#define PARAM(kind, name, default_value) FER_KERNELS_ARE_C
#define DTYPE_VAR(name, default_dtype) FER_KERNELS_ARE_C

#else

/* Preprocessor helpers: joining, picking, counting, one expansion for each argument. */

#define FER_JOIN(a, b) FER_JOIN_(a, b)
#define FER_JOIN_(a, b) a##b
#define FER_SECOND(...) FER_SECOND_(__VA_ARGS__, ~)
#define FER_SECOND_(first, second, ...) second
#define FER_THIRD(...) FER_THIRD_(__VA_ARGS__, ~)
#define FER_THIRD_(first, second, third, ...) third

#define FER_COUNT(...)                                                                             \
    FER_COUNT_(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, 16, 15, 14, 13, 12,    \
               11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, ~)
#define FER_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, count,  \
                   ...)                                                                            \
    count

/* FER_EACH(macro, i, a, b, ...) is macro(i, a) macro(i + 1, b) ... */
#define FER_EACH(macro, i, ...) FER_JOIN(FER_EACH_, FER_COUNT(__VA_ARGS__))(macro, i, __VA_ARGS__)
#define FER_EACH_1(macro, i, a) macro(i, a)
#define FER_EACH_2(macro, i, a, ...) macro(i, a) FER_EACH_1(macro, i + 1, __VA_ARGS__)
#define FER_EACH_3(macro, i, a, ...) macro(i, a) FER_EACH_2(macro, i + 1, __VA_ARGS__)
#define FER_EACH_4(macro, i, a, ...) macro(i, a) FER_EACH_3(macro, i + 1, __VA_ARGS__)
#define FER_EACH_5(macro, i, a, ...) macro(i, a) FER_EACH_4(macro, i + 1, __VA_ARGS__)
#define FER_EACH_6(macro, i, a, ...) macro(i, a) FER_EACH_5(macro, i + 1, __VA_ARGS__)
#define FER_EACH_7(macro, i, a, ...) macro(i, a) FER_EACH_6(macro, i + 1, __VA_ARGS__)
#define FER_EACH_8(macro, i, a, ...) macro(i, a) FER_EACH_7(macro, i + 1, __VA_ARGS__)
#define FER_EACH_9(macro, i, a, ...) macro(i, a) FER_EACH_8(macro, i + 1, __VA_ARGS__)
#define FER_EACH_10(macro, i, a, ...) macro(i, a) FER_EACH_9(macro, i + 1, __VA_ARGS__)
#define FER_EACH_11(macro, i, a, ...) macro(i, a) FER_EACH_10(macro, i + 1, __VA_ARGS__)
#define FER_EACH_12(macro, i, a, ...) macro(i, a) FER_EACH_11(macro, i + 1, __VA_ARGS__)
#define FER_EACH_13(macro, i, a, ...) macro(i, a) FER_EACH_12(macro, i + 1, __VA_ARGS__)
#define FER_EACH_14(macro, i, a, ...) macro(i, a) FER_EACH_13(macro, i + 1, __VA_ARGS__)
#define FER_EACH_15(macro, i, a, ...) macro(i, a) FER_EACH_14(macro, i + 1, __VA_ARGS__)
#define FER_EACH_16(macro, i, a, ...) macro(i, a) FER_EACH_15(macro, i + 1, __VA_ARGS__)
#define FER_EACH_MORE(macro, i, ...) fer_more_than_16_results_and_operands

#define FER_UNUSED __attribute__((unused))

/* Dtypes: what a type is, and one view type for each dtype and rank. X(tag, type, DLPack's code,
 * argument). Both 64-bit integer types of C are i64. */
#define FER_DTYPES(X, argument) FER_NATIVE_DTYPES(X, argument) FER_SMALL_FLOATS(X, argument)
#define FER_NATIVE_DTYPES(X, argument)                                                             \
    X(bool, _Bool, 6, argument)                                                                    \
    X(i8, signed char, 0, argument)                                                                \
    X(i16, short, 0, argument)                                                                     \
    X(i32, int, 0, argument)                                                                       \
    X(i64, long, 0, argument)                                                                      \
    X(long_long, long long, 0, argument)                                                           \
    X(u8, unsigned char, 1, argument)                                                              \
    X(u16, unsigned short, 1, argument)                                                            \
    X(u32, unsigned int, 1, argument)                                                              \
    X(u64, unsigned long, 1, argument)                                                             \
    X(unsigned_long_long, unsigned long long, 1, argument)                                         \
    X(f32, float, 2, argument)                                                                     \
    X(f64, double, 2, argument)

/* -1 for a type that is no dtype. */
#define FER_DTYPE_CODE(type) _Generic(*(type *)0, FER_DTYPES(FER_CODE_CHOICE, ~) default : -1)
#define FER_CODE_CHOICE(tag, type, code, unused)                                                   \
    type:                                                                                          \
    code,

/* From a dtype to the type to compute in, and back. */
#define FER_KEEP(tag, type, code, unused)                                                          \
    FER_INLINE type fer_widen_##tag(type value)                                                    \
    {                                                                                              \
        return value;                                                                              \
    }
FER_NATIVE_DTYPES(FER_KEEP, ~)
struct fer_no_dtype;

/* COMPUTE(T) is the type to compute in: float for a small float, else T itself. */
#define COMPUTE(type) FER_COMPUTE(type, float)
#define FER_COMPUTE(type, wide)                                                                    \
    __typeof__(_Generic(*(type *)0, FER_SMALL_FLOATS(FER_COMPUTE_CHOICE, wide) default             \
                        : *(type *)0))
#define FER_COMPUTE_CHOICE(tag, type, code, wide)                                                  \
    type:                                                                                          \
    (wide)0,

/* WIDEN(element) is an element as a COMPUTE, NARROW(T, value) a number as an element of type T. */
#define WIDEN(element)                                                                             \
    _Generic((element),                                                                            \
             FER_DTYPES(FER_FUNCTION_CHOICE, fer_widen_) struct fer_no_dtype * : 0)(element)
#define NARROW(type, value)                                                                        \
    _Generic((value), float                                                                        \
             : FER_NARROWER(type, fer_narrow_), default                                            \
             : FER_NARROWER(type, fer_narrow_double_))(value)
#define FER_NARROWER(type, prefix)                                                                 \
    _Generic(*(type *)0, FER_NATIVE_DTYPES(FER_FUNCTION_CHOICE, fer_widen_) FER_SMALL_FLOATS(      \
                             FER_FUNCTION_CHOICE, prefix) struct fer_no_dtype * : 0)
#define FER_FUNCTION_CHOICE(tag, type, code, prefix)                                               \
    type:                                                                                          \
    prefix##tag,

#define FER_RANK_ANY FER_ABI_ANY_RANK
#define FER_RANK_ELEMENT (-2) /* an operand of a MAP */
#define FER_RANK_0 0
#define FER_RANK_1 1
#define FER_RANK_2 2
#define FER_RANK_3 3
#define FER_RANK_4 4
#define FER_RANK_5 5
#define FER_RANK_6 6
#define FER_RANK_7 7
#define FER_RANK_8 8

/* A view holds its extents, not a pointer to them: no store through `data` can be taken for one to
 * them, so loops need not load them again. `extent` has a slot more than axes, since C has no array
 * of length 0; its length tells the compiler the rank, and the length for ANY is no rank's. */
#define FER_VIEW_STRUCT(name, type, slots)                                                         \
    struct name {                                                                                  \
        type *restrict data;                                                                       \
        index_t size;                                                                              \
        int rank;                                                                                  \
        index_t extent[slots];                                                                     \
    };
#define FER_SLOTS_ANY (FER_ABI_MAX_RANK + 2)
#define FER_VIEW_STRUCTS(tag, type, code, unused)                                                  \
    FER_VIEW_RANKS(fer_view_##tag, type)                                                           \
    FER_VIEW_RANKS(fer_const_view_##tag, const type)
#define FER_VIEW_RANKS(prefix, type)                                                               \
    FER_VIEW_STRUCT(prefix##_ANY, type, FER_SLOTS_ANY)                                             \
    FER_VIEW_STRUCT(prefix##_0, type, 1)                                                           \
    FER_VIEW_STRUCT(prefix##_1, type, 2)                                                           \
    FER_VIEW_STRUCT(prefix##_2, type, 3)                                                           \
    FER_VIEW_STRUCT(prefix##_3, type, 4)                                                           \
    FER_VIEW_STRUCT(prefix##_4, type, 5)                                                           \
    FER_VIEW_STRUCT(prefix##_5, type, 6)                                                           \
    FER_VIEW_STRUCT(prefix##_6, type, 7)                                                           \
    FER_VIEW_STRUCT(prefix##_7, type, 8)                                                           \
    FER_VIEW_STRUCT(prefix##_8, type, 9)
FER_DTYPES(FER_VIEW_STRUCTS, ~)

struct fer_no_view; /* the view of a type that is no dtype: never defined */

/* VIEW(f32, 2) is the type of OUT and INOUT views, VIEW(const f32, 2) of IN views: for functions
 * that kernels share. */
#define VIEW(type, rank) FER_VIEW(type, rank)
#define FER_VIEW(type, rank)                                                                       \
    __typeof__(*_Generic((type *)0, FER_DTYPES(FER_VIEW_CHOICE, rank) default                      \
                         : (struct fer_no_view *)0))
#define FER_VIEW_CHOICE(tag, type, code, rank)                                                     \
    type * : (struct fer_view_##tag##_##rank *)0,                                                  \
             const type * : (struct fer_const_view_##tag##_##rank *)0,

/* With FERRULE_CHECKED every index is held against its axis and every axis against the rank, and
 * what lies outside is told to who loaded the object, before the access; the answer is the index to
 * use instead. Without it nothing is left. */
#ifdef FERRULE_CHECKED
/* `axis` is -1 where `index` is itself an axis, and `bound` the rank. */
typedef index_t (*fer_outside_function)(const char *file, int line, const char *view, int axis,
                                        index_t index, index_t bound);
extern fer_outside_function fer_tell_outside;
__attribute__((weak, visibility("default"))) fer_outside_function fer_tell_outside;
FER_INLINE index_t fer_inside(const char *file, int line, const char *view, int axis, index_t index,
                              index_t bound)
{
    if (index >= 0 && index < bound)
        return index;
    if (fer_tell_outside == NULL)
        __builtin_trap();
    return fer_tell_outside(file, line, view, axis, index, bound);
}
/* Where one of the axes is empty no index is inside, and the others must not lead far away. */
FER_INLINE index_t fer_flat(const index_t *extents, int rank, index_t flat)
{
    for (int axis = 0; axis < rank; axis++)
        if (extents[axis] == 0)
            return 0;
    return flat;
}
#define FER_INDEX(x, axis, index) fer_inside(__FILE__, __LINE__, #x, axis, index, (x).extent[axis])
#define FER_RANK_INDEX(x, axis) fer_inside(__FILE__, __LINE__, #x, -1, axis, (x).rank)
#define FER_FLAT(x, rank, flat) fer_flat((x).extent, rank, flat)
#else
#define FER_INDEX(x, axis, index) (index)
#define FER_RANK_INDEX(x, axis) (axis)
#define FER_FLAT(x, rank, flat) (flat)
#endif

/* What a view tells: extents, elements. */

#define DIM(x, axis) ((x).extent[FER_RANK_INDEX(x, FER_AXIS(x, axis))])
/* The axis; one that the compiler sees to be none of the view's does not compile. */
#define FER_AXIS(x, axis)                                                                          \
    (__builtin_constant_p(axis) && ((index_t)(axis) < 0 || (index_t)(axis) >= FER_NUM_AXES(x))     \
         ? fer_axis_outside_the_view()                                                             \
         : (axis))
#define FER_NUM_AXES(x) ((index_t)(sizeof((x).extent) / sizeof(index_t)) - 1)
index_t fer_axis_outside_the_view(void)
#if defined(__has_attribute)
#if __has_attribute(error)
    __attribute__((error("DIM needs an axis of the view, from 0 to its rank - 1")))
#endif
#endif
    ;
#define RANK(x) ((x).rank)
#define SIZE(x) ((x).size)
#define DATA(x) ((x).data)

/* AT(x, i, j, ...) is an element, to read or to assign. */
#define AT(...) FER_JOIN(FER_AT_, FER_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define FER_AT_1(x) FER_ELEMENT(x, 0, 0)
#define FER_AT_2(x, ...) FER_ELEMENT(x, 1, FER_FLAT_1(x, __VA_ARGS__))
#define FER_AT_3(x, ...) FER_ELEMENT(x, 2, FER_FLAT_2(x, __VA_ARGS__))
#define FER_AT_4(x, ...) FER_ELEMENT(x, 3, FER_FLAT_3(x, __VA_ARGS__))
#define FER_AT_5(x, ...) FER_ELEMENT(x, 4, FER_FLAT_4(x, __VA_ARGS__))
#define FER_AT_6(x, ...) FER_ELEMENT(x, 5, FER_FLAT_5(x, __VA_ARGS__))
#define FER_AT_7(x, ...) FER_ELEMENT(x, 6, FER_FLAT_6(x, __VA_ARGS__))
#define FER_AT_8(x, ...) FER_ELEMENT(x, 7, FER_FLAT_7(x, __VA_ARGS__))
#define FER_AT_9(x, ...) FER_ELEMENT(x, 8, FER_FLAT_8(x, __VA_ARGS__))
#define FER_FLAT_1(x, a) FER_INDEX(x, 0, a)
#define FER_FLAT_2(x, a, b) (FER_FLAT_1(x, a) * (x).extent[1] + FER_INDEX(x, 1, b))
#define FER_FLAT_3(x, a, b, c) (FER_FLAT_2(x, a, b) * (x).extent[2] + FER_INDEX(x, 2, c))
#define FER_FLAT_4(x, a, b, c, d) (FER_FLAT_3(x, a, b, c) * (x).extent[3] + FER_INDEX(x, 3, d))
#define FER_FLAT_5(x, a, b, c, d, e)                                                               \
    (FER_FLAT_4(x, a, b, c, d) * (x).extent[4] + FER_INDEX(x, 4, e))
#define FER_FLAT_6(x, a, b, c, d, e, f)                                                            \
    (FER_FLAT_5(x, a, b, c, d, e) * (x).extent[5] + FER_INDEX(x, 5, f))
#define FER_FLAT_7(x, a, b, c, d, e, f, g)                                                         \
    (FER_FLAT_6(x, a, b, c, d, e, f) * (x).extent[6] + FER_INDEX(x, 6, g))
#define FER_FLAT_8(x, a, b, c, d, e, f, g, h)                                                      \
    (FER_FLAT_7(x, a, b, c, d, e, f, g) * (x).extent[7] + FER_INDEX(x, 7, h))

/* LOAD(x, i, j, ...) is an element as a number to compute with, STORE(y, value, i, j, ...) rounds
 * a number to the element's type. */
#define LOAD(...) WIDEN(AT(__VA_ARGS__))
#define STORE(...) FER_JOIN(FER_STORE_, FER_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define FER_STORE_2(x, value) FER_ASSIGN(AT(x), value)
#define FER_STORE_3(x, value, ...) FER_ASSIGN(AT(x, __VA_ARGS__), value)
#define FER_STORE_4 FER_STORE_3
#define FER_STORE_5 FER_STORE_3
#define FER_STORE_6 FER_STORE_3
#define FER_STORE_7 FER_STORE_3
#define FER_STORE_8 FER_STORE_3
#define FER_STORE_9 FER_STORE_3
#define FER_STORE_10 FER_STORE_3
#define FER_ASSIGN(element, value) ((element) = NARROW(__typeof__(element), value))

#define FER_ELEMENT(x, num_indices, flat)                                                          \
    ((x).data[FER_INDEX_CHECK(sizeof((x).extent) / sizeof(index_t), num_indices) +                 \
              FER_FLAT(x, num_indices, flat)])
/* 0, as a constant expression. */
#define FER_INDEX_CHECK(slots, num_indices)                                                        \
    ((index_t)(0 * sizeof(struct {                                                                 \
                   _Static_assert((slots) != FER_SLOTS_ANY,                                        \
                                  "AT needs a view of fixed rank; the rank of this one is ANY: "   \
                                  "use DATA, SIZE and DIM");                                       \
                   _Static_assert((slots) == FER_SLOTS_ANY || (slots) == (num_indices) + 1,        \
                                  "AT needs as many indices as the view has axes");                \
                   int unused;                                                                     \
               })))

/* From the ABI's tensors to views. */

FER_INLINE void *fer_data(const fer_dl_tensor *tensor)
{
    return tensor->byte_offset == 0 ? tensor->data : (char *)tensor->data + tensor->byte_offset;
}

FER_INLINE index_t fer_num_elements(const fer_dl_tensor *tensor, int rank)
{
    uint64_t size = 1; /* an empty tensor's other extents may be too much for 64 bits */
    for (int axis = 0; axis < rank; axis++)
        size *= (uint64_t)tensor->shape[axis];
    return (index_t)size;
}

FER_INLINE index_t fer_extent_or_1(const fer_dl_tensor *tensor, int axis)
{
    return axis < tensor->ndim ? tensor->shape[axis] : 1;
}

#define FER_EXTENTS_ANY(t)                                                                         \
    fer_extent_or_1(t, 0), fer_extent_or_1(t, 1), fer_extent_or_1(t, 2), fer_extent_or_1(t, 3),    \
        fer_extent_or_1(t, 4), fer_extent_or_1(t, 5), fer_extent_or_1(t, 6), fer_extent_or_1(t, 7)
#define FER_EXTENTS_0(t) 1
#define FER_EXTENTS_1(t) (t)->shape[0]
#define FER_EXTENTS_2(t) FER_EXTENTS_1(t), (t)->shape[1]
#define FER_EXTENTS_3(t) FER_EXTENTS_2(t), (t)->shape[2]
#define FER_EXTENTS_4(t) FER_EXTENTS_3(t), (t)->shape[3]
#define FER_EXTENTS_5(t) FER_EXTENTS_4(t), (t)->shape[4]
#define FER_EXTENTS_6(t) FER_EXTENTS_5(t), (t)->shape[5]
#define FER_EXTENTS_7(t) FER_EXTENTS_6(t), (t)->shape[6]
#define FER_EXTENTS_8(t) FER_EXTENTS_7(t), (t)->shape[7]

#define FER_MAKE_VIEW(view_type, rank_value, extents, tensor)                                      \
    ((view_type){.data = fer_data(tensor),                                                         \
                 .size = fer_num_elements(tensor, (rank_value) < 0 ? (tensor)->ndim : rank_value), \
                 .rank = (rank_value) < 0 ? (tensor)->ndim : (rank_value),                         \
                 .extent = {extents}})

/* Results and operands of a KERNEL or SHAPE, operands of a MAP: tuples of role, qualifier of
 * the elements, type, rank and name. Macros with two arguments (i, tuple) are for FER_EACH. */

#define OUT(type, rank, name) (FER_ABI_RESULT, , type, rank, name)
#define INOUT(type, rank, name) (FER_ABI_INOUT, , type, rank, name)
#define IN(...) FER_JOIN(FER_IN_, FER_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define FER_IN_2(type, name) (FER_ABI_OPERAND, const, type, ELEMENT, name)
#define FER_IN_3(type, rank, name) (FER_ABI_OPERAND, const, type, rank, name)

#define FER_PARAMETER(i, tuple) FER_PARAMETER_ tuple
#define FER_PARAMETER_(role, qualifier, type, rank, name)                                          \
    , FER_VIEW(qualifier type, rank) name FER_UNUSED
#define FER_CONST_PARAMETER(i, tuple) FER_CONST_PARAMETER_ tuple
#define FER_CONST_PARAMETER_(role, qualifier, type, rank, name)                                    \
    , FER_VIEW(const type, rank) name FER_UNUSED

#define FER_ARGUMENT(i, tuple) , FER_ARGUMENT_(i, FER_UNPACK tuple)
#define FER_ARGUMENT_(...) FER_ARGUMENT__(__VA_ARGS__)
#define FER_ARGUMENT__(i, role, qualifier, type, rank, name)                                       \
    FER_MAKE_VIEW(FER_VIEW(qualifier type, rank), FER_RANK_##rank,                                 \
                  FER_EXTENTS_##rank(fer_tensors[i]), fer_tensors[i])
#define FER_CONST_ARGUMENT(i, tuple) , FER_CONST_ARGUMENT_(i, FER_UNPACK tuple)
#define FER_CONST_ARGUMENT_(...) FER_CONST_ARGUMENT__(__VA_ARGS__)
#define FER_CONST_ARGUMENT__(i, role, qualifier, type, rank, name)                                 \
    FER_ARGUMENT__(i, role, const, type, rank, name)
#define FER_UNPACK(...) __VA_ARGS__

/* The tensor's row in the ABI's table. */
#define FER_ROW(i, tuple) FER_ROW_ tuple
#define FER_ROW_(role, qualifier, type, rank, name)                                                \
    {#name,                                                                                        \
     role,                                                                                         \
     FER_RANK_##rank == FER_RANK_ELEMENT ? FER_ABI_ANY_RANK : FER_RANK_##rank,                     \
     {FER_DTYPE_CODE(type), 8 * sizeof(type), 1},                                                  \
     0},

/* What can be said against one tensor, in words. */
#define FER_JUDGE(i, tuple) FER_JUDGE_ tuple
#define FER_JUDGE_(role, qualifier, type, rank, name)                                              \
    FER_JUDGE_DTYPE(type, #name)                                                                   \
    _Static_assert(FER_RANK_##rank != FER_RANK_ELEMENT,                                            \
                   #name " needs a rank here: IN(dtype, rank, name)");
#define FER_JUDGE_ELEMENT(i, tuple) FER_JUDGE_ELEMENT_ tuple
#define FER_JUDGE_ELEMENT_(role, qualifier, type, rank, name)                                      \
    FER_JUDGE_DTYPE(type, #name)                                                                   \
    _Static_assert((role) == FER_ABI_OPERAND && FER_RANK_##rank == FER_RANK_ELEMENT,               \
                   #name " has a rank or a direction, but a MAP only takes IN(dtype, name)");
#define FER_JUDGE_DTYPE(type, name)                                                                \
    _Static_assert(FER_DTYPE_CODE(type) >= 0,                                                      \
                   name " has a type that is no dtype: it can be bool, i8, i16, i32, i64, "        \
                        "u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3fn or f8e5m2");

/* The places of results add up to 0 + 1 + ... exactly when results come first. */
#define FER_IS_RESULT(i, tuple) +(FER_ROLE tuple == FER_ABI_RESULT)
#define FER_RESULT_PLACE(i, tuple) +(FER_ROLE tuple == FER_ABI_RESULT ? 2 * (i) : 0)
#define FER_ROLE(role, qualifier, type, rank, name) role
#define FER_JUDGE_ORDER(num_results, twice_sum)                                                    \
    _Static_assert((twice_sum) == (num_results) * ((num_results)-1),                               \
                   "results (OUT) come before operands (IN and INOUT)");
#define FER_JUDGE_NO_RESULT(num_results)                                                           \
    _Static_assert((num_results) == 0,                                                             \
                   "a SHAPE has no results: it takes the operands of its kernel");

/* Entries, and the table of them that the shared object exports. */

#if defined(__has_attribute)
#if __has_attribute(retain)
#define FER_RETAIN , retain /* or lld's --gc-sections drops the entries */
#endif
#if __has_attribute(noipa)
#define FER_NOIPA noipa
#endif
#endif
#ifndef FER_RETAIN
#define FER_RETAIN
#endif
#ifndef FER_NOIPA
#define FER_NOIPA noinline
#endif

/* The linker gathers the pointers of all files in one section and names its bounds. */
extern const fer_abi_entry *const __start_fer_entries[] __attribute__((weak, visibility("hidden")));
extern const fer_abi_entry *const __stop_fer_entries[] __attribute__((weak, visibility("hidden")));

__attribute__((weak, visibility("default"))) const fer_abi_table *ferrule_package_table(void);
__attribute__((weak, visibility("default"))) const fer_abi_table *ferrule_package_table(void)
{
    static const fer_abi_table table = {FER_ABI_VERSION, sizeof(fer_abi_table), __start_fer_entries,
                                        __stop_fer_entries};
    return &table;
}

/* Names are fer_<what>__<kernel>: two underscores, so that no kernel's name makes one of ours. */
#define FER_RUN_FUNCTION(what, name)                                                               \
    static int fer_run_##what##__##name(fer_context *fer_kernel_context FER_UNUSED,                \
                                        const fer_dl_tensor *const *fer_tensors)

#define FER_ENTRY(what, kernel, entry_kind, text, num, rows)                                       \
    static const fer_abi_tensor fer_tensors_##what##__##kernel[] = {rows};                         \
    static const fer_abi_entry fer_entry_##what##__##kernel = {                                    \
        .struct_bytes = sizeof(fer_abi_entry),                                                     \
        .kind = entry_kind,                                                                        \
        .name = #kernel,                                                                           \
        .run = fer_run_##what##__##kernel,                                                         \
        .tensors = fer_tensors_##what##__##kernel,                                                 \
        .num_tensors = num,                                                                        \
        .file = __FILE__,                                                                          \
        .line = __LINE__,                                                                          \
        .signature = text};                                                                        \
    static const fer_abi_entry *const fer_listed_##what##__##kernel                                \
        __attribute__((used FER_RETAIN, section("fer_entries"))) = &fer_entry_##what##__##kernel;

#ifdef FER_SPECIALISED
#define FER_WANTED(name) FER_SECOND(FER_WANT_##name, 0)
#else
#define FER_WANTED(name) 1
#endif

/* A weak name: NULL in the entry of a kernel that has no SIGNATURE in its package. Not hidden: gold
 * would make the missing one the address of the shared object. */
#define FER_DECLARE_SIGNATURE(name) extern const char fer_signature__##name[] __attribute__((weak));
#define FER_SIGNATURE(name, wanted, text) FER_JOIN(FER_SIGNATURE_, wanted)(name, text)
#define FER_SIGNATURE_0(name, text)                                                                \
    _Static_assert(sizeof("" text) > 1, "the text of a SIGNATURE is empty")
#define FER_SIGNATURE_1(name, text)                                                                \
    FER_DECLARE_SIGNATURE(name)                                                                    \
    const char fer_signature__##name[] = #name "" text

/* KERNEL and SHAPE: the function whose body the author's braces are, and for a wanted one the entry
 * before it, which makes the views. `inline`, or gcc would emit unwanted ones when it does not
 * optimise. */

#define FER_KERNEL(name, wanted, ...)                                                              \
    FER_EACH(FER_JUDGE, 0, __VA_ARGS__)                                                            \
    FER_JUDGE_ORDER((FER_EACH(FER_IS_RESULT, 0, __VA_ARGS__)),                                     \
                    (FER_EACH(FER_RESULT_PLACE, 0, __VA_ARGS__)))                                  \
    FER_JOIN(FER_KERNEL_, wanted)(name, __VA_ARGS__) FER_KERNEL_HEAD(name, __VA_ARGS__)
#define FER_KERNEL_HEAD(name, ...)                                                                 \
    static inline FER_UNUSED int fer_kernel__##name(                                               \
        fer_context *fer_kernel_context FER_UNUSED FER_EACH(FER_PARAMETER, 0, __VA_ARGS__))
#define FER_KERNEL_0(name, ...)
#define FER_KERNEL_1(name, ...)                                                                    \
    FER_KERNEL_HEAD(name, __VA_ARGS__);                                                            \
    FER_RUN_FUNCTION(kernel, name)                                                                 \
    {                                                                                              \
        return fer_kernel__##name(fer_kernel_context FER_EACH(FER_ARGUMENT, 0, __VA_ARGS__));      \
    }                                                                                              \
    FER_DECLARE_SIGNATURE(name)                                                                    \
    FER_ENTRY(kernel, name, FER_ABI_KERNEL, fer_signature__##name, FER_COUNT(__VA_ARGS__),         \
              FER_UNPACK(FER_EACH(FER_ROW, 0, __VA_ARGS__)))

#define FER_SHAPE(name, wanted, ...)                                                               \
    FER_EACH(FER_JUDGE, 0, __VA_ARGS__)                                                            \
    FER_JUDGE_NO_RESULT(FER_EACH(FER_IS_RESULT, 0, __VA_ARGS__))                                   \
    FER_JOIN(FER_SHAPE_, wanted)(name, __VA_ARGS__) FER_SHAPE_HEAD(name, __VA_ARGS__)
#define FER_SHAPE_HEAD(name, ...)                                                                  \
    static inline FER_UNUSED int fer_shape__##name(                                                \
        fer_context *fer_kernel_context FER_UNUSED FER_EACH(FER_CONST_PARAMETER, 0, __VA_ARGS__))
#define FER_SHAPE_0(name, ...)
#define FER_SHAPE_1(name, ...)                                                                     \
    FER_SHAPE_HEAD(name, __VA_ARGS__);                                                             \
    FER_RUN_FUNCTION(shape, name)                                                                  \
    {                                                                                              \
        return fer_shape__##name(fer_kernel_context FER_EACH(FER_CONST_ARGUMENT, 0, __VA_ARGS__)); \
    }                                                                                              \
    FER_ENTRY(shape, name, FER_ABI_SHAPE, NULL, FER_COUNT(__VA_ARGS__),                            \
              FER_UNPACK(FER_EACH(FER_ROW, 0, __VA_ARGS__)))

/* MAP.
 *
 * All elements, the last few and a single one too, go through one loop over whole blocks, which is
 * compiled once and never cloned: a vector routine and its scalar twin may differ in the last bit,
 * and an element must get the same bits in a tensor of any size. The last block is
 * laid so that it ends with the tensor, and computes some elements again, to the same bits; only a
 * tensor shorter than a block is copied into one. A scalar operand is a block of copies. */

/* Elements: whole vectors of every dtype, and few enough that a short tensor costs little. */
#define FER_BLOCK_OF(result) (sizeof(result) < 4 ? 64 / (index_t)sizeof(result) : 16)
enum { FER_MAX_BLOCK_BYTES = 64 * 8 };

/* Computes `num_blocks` blocks. After each one operand i goes on by steps[i] elements. */
typedef void (*fer_map_blocks)(index_t num_blocks, void *result, const void *const *operands,
                               const index_t *steps);

typedef uint8_t fer_bytes_1 __attribute__((may_alias));
typedef uint16_t fer_bytes_2 __attribute__((may_alias));
typedef uint32_t fer_bytes_4 __attribute__((may_alias));
typedef uint64_t fer_bytes_8 __attribute__((may_alias));

/* The first `count` elements of `from`, then copies of its first one until the block is full. The
 * empty asm keeps the second loop plain: it is short, and every file of MAPs has to compile it. */
#define FER_FILL_BLOCK(element, block, length, from, count)                                        \
    {                                                                                              \
        const element first = *(const element *)(from);                                            \
        for (index_t i = 0; i < (length); i++)                                                     \
            ((element *)(block))[i] = first;                                                       \
        for (index_t i = 1; i < (count); i++) {                                                    \
            ((element *)(block))[i] = ((const element *)(from))[i];                                \
            __asm__ volatile("");                                                                  \
        }                                                                                          \
    }

static FER_UNUSED const void *fer_fill_block(void *block, index_t length, const void *from,
                                             index_t count, size_t element_bytes)
{
    if (element_bytes == 8)
        FER_FILL_BLOCK(fer_bytes_8, block, length, from, count)
    else if (element_bytes == 4)
        FER_FILL_BLOCK(fer_bytes_4, block, length, from, count)
    else if (element_bytes == 2)
        FER_FILL_BLOCK(fer_bytes_2, block, length, from, count)
    else
        FER_FILL_BLOCK(fer_bytes_1, block, length, from, count)
    return block;
}

/* What the blocks of a MAP run over. */
typedef struct fer_map_work {
    fer_map_blocks run_blocks;
    index_t block; /* elements of one */
    int num_operands;
    const fer_dl_tensor *const *tensors; /* the result, then operands */
    const void *const *operands;         /* their elements, or a filled block */
    const index_t *steps;
} fer_map_work;

#ifdef _OPENMP
/* Elements for each thread: fewer are done before another thread is awake. */
enum { FER_THREAD_ELEMENTS = 32768 };

/* Blocks from the element `start` on. */
static FER_UNUSED void fer_run_blocks(const fer_map_work *work, index_t start, index_t num_blocks)
{
    const fer_dl_tensor *const *tensors = work->tensors;
    char *result = (char *)fer_data(tensors[0]) + (size_t)start * (tensors[0]->dtype.bits / 8);
    const void *operands[FER_ABI_MAX_TENSORS];
    for (int i = 0; i < work->num_operands; i++) {
        const size_t bytes = work->steps[i] == 0 ? 0 : tensors[i + 1]->dtype.bits / 8;
        operands[i] = (const char *)work->operands[i] + (size_t)start * bytes;
    }
    work->run_blocks(num_blocks, result, operands, work->steps);
}

/* A piece of the blocks for each thread. Which thread runs a block changes no bit of it. */
static FER_UNUSED void fer_share_blocks(const fer_map_work *work, index_t num_blocks,
                                        int num_threads)
{
    const index_t each = num_blocks / num_threads;
    const index_t rest = num_blocks % num_threads; /* pieces that have a block more */
#pragma omp parallel for schedule(static) num_threads(num_threads)
    for (int i = 0; i < num_threads; i++)
        fer_run_blocks(work, (i * each + (i < rest ? i : rest)) * work->block, each + (i < rest));
}
#endif

static FER_UNUSED void fer_run_all_blocks(const fer_map_work *work, const fer_context *context,
                                          index_t num_blocks)
{
#ifdef _OPENMP
    const index_t most = num_blocks * work->block / FER_THREAD_ELEMENTS;
    const index_t allowed = context->num_threads;
    if (most > 1 && allowed > 1) { /* an `if` of OpenMP's would cost small tensors too much */
        fer_share_blocks(work, num_blocks, (int)(most < allowed ? most : allowed));
        return;
    }
#endif
    (void)context;
    work->run_blocks(num_blocks, fer_data(work->tensors[0]), work->operands, work->steps);
}

static FER_UNUSED int fer_run_map(const fer_context *context, const fer_dl_tensor *const *tensors,
                                  int num_operands, index_t block, fer_map_blocks run_blocks)
{
    _Alignas(64) char filled[FER_ABI_MAX_TENSORS][FER_MAX_BLOCK_BYTES];
    const void *operands[FER_ABI_MAX_TENSORS];
    index_t steps[FER_ABI_MAX_TENSORS];
    const fer_map_work work = {run_blocks, block, num_operands, tensors, operands, steps};
    const index_t size = fer_num_elements(tensors[0], tensors[0]->ndim);
    const size_t result_bytes = tensors[0]->dtype.bits / 8;
    char *result = (char *)fer_data(tensors[0]);
    if (size == 0)
        return OK;
    for (int i = 0; i < num_operands; i++) {
        const bool is_scalar = tensors[i + 1]->ndim == 0;
        const size_t bytes = tensors[i + 1]->dtype.bits / 8;
        operands[i] = fer_data(tensors[i + 1]);
        steps[i] = is_scalar ? 0 : block;
        if (is_scalar || size < block)
            operands[i] =
                fer_fill_block(filled[i], block, operands[i], is_scalar ? 1 : size, bytes);
    }
    if (size < block) {
        run_blocks(1, filled[num_operands], operands, steps);
        for (size_t i = 0; i < (size_t)size * result_bytes; i++)
            result[i] = filled[num_operands][i];
        return OK;
    }
    fer_run_all_blocks(&work, context, size / block);
    if (size % block == 0)
        return OK;
    for (int i = 0; i < num_operands; i++)
        if (steps[i] != 0)
            operands[i] = (const char *)operands[i] +
                          (size_t)(size - block) * (tensors[i + 1]->dtype.bits / 8);
    run_blocks(1, result + (size_t)(size - block) * result_bytes, operands, steps);
    return OK;
}

#define FER_MAP_PARAMETER(i, tuple) FER_MAP_PARAMETER_ tuple
#define FER_MAP_PARAMETER_(role, qualifier, type, rank, name) , COMPUTE(type) name FER_UNUSED
#define FER_BLOCK_PARAMETER(i, tuple) FER_BLOCK_PARAMETER_ tuple
#define FER_BLOCK_PARAMETER_(role, qualifier, type, rank, name)                                    \
    , const type *restrict fer_from_##name, const index_t fer_step_##name
#define FER_BLOCK_ARGUMENT(i, tuple) , fer_operands[i], fer_steps[i]
#define FER_BLOCK_ELEMENT(i, tuple) FER_BLOCK_ELEMENT_ tuple
#define FER_BLOCK_ELEMENT_(role, qualifier, type, rank, name) , WIDEN(fer_from_##name[fer_i])
#define FER_BLOCK_ADVANCE(i, tuple) FER_BLOCK_ADVANCE_ tuple
#define FER_BLOCK_ADVANCE_(role, qualifier, type, rank, name) fer_from_##name += fer_step_##name;

/* What the function of a MAP returns: where a small float is made of what a float cannot hold, a
 * double, so that it is rounded once. */
#define FER_MAP_VALUE(type, ...)                                                                   \
    FER_COMPUTE(type, __typeof__(0.0F FER_EACH(FER_PLUS_NUMBER, 0, __VA_ARGS__)))
#define FER_PLUS_NUMBER(i, tuple) FER_PLUS_NUMBER_ tuple
#define FER_PLUS_NUMBER_(role, qualifier, type, rank, name)                                        \
    +_Generic(*(type *)0, int : 0.0, long : 0.0, long long : 0.0, unsigned int : 0.0,              \
              unsigned long : 0.0, unsigned long long : 0.0, double : 0.0, default : 0.0F)

/* Stands where a kernel has its context: the compiler names it when a MAP holds CHECK, FAIL or
 * SCRATCH. */
struct fer_a_MAP_cannot_fail;

#define FER_MAP(name, type, wanted, ...)                                                           \
    FER_JUDGE_DTYPE(type, "the result of " #name)                                                  \
    FER_EACH(FER_JUDGE_ELEMENT, 0, __VA_ARGS__)                                                    \
    FER_JOIN(FER_MAP_, wanted)(name, type, __VA_ARGS__) FER_MAP_HEAD(name, type, __VA_ARGS__)
#define FER_MAP_HEAD(name, type, ...)                                                              \
    FER_INLINE FER_MAP_VALUE(type, __VA_ARGS__)                                                    \
        fer_map__##name(struct fer_a_MAP_cannot_fail *fer_kernel_context FER_UNUSED FER_EACH(      \
            FER_MAP_PARAMETER, 0, __VA_ARGS__))
#define FER_MAP_0(name, type, ...)
#ifdef __clang__
#define FER_NO_UNROLL
#else
/* gcc would unroll the inner loop before it tries to vectorise it. */
#define FER_NO_UNROLL _Pragma("GCC unroll 1")
#endif

/* The empty asm keeps the outer loop from being vectorised over the inner one, which would make
 * one block another code than many. */
#define FER_MAP_1(name, type, ...)                                                                 \
    FER_MAP_HEAD(name, type, __VA_ARGS__);                                                         \
    static __attribute__((FER_NOIPA)) void fer_loop__##name(                                       \
        index_t fer_num_blocks,                                                                    \
        type *restrict fer_result FER_EACH(FER_BLOCK_PARAMETER, 0, __VA_ARGS__))                   \
    {                                                                                              \
        for (; fer_num_blocks > 0; fer_num_blocks--) {                                             \
            FER_NO_UNROLL                                                                          \
            for (int fer_i = 0; fer_i < FER_BLOCK_OF(type); fer_i++) {                             \
                const FER_MAP_VALUE(type, __VA_ARGS__) fer_value =                                 \
                    fer_map__##name(NULL FER_EACH(FER_BLOCK_ELEMENT, 0, __VA_ARGS__));             \
                fer_result[fer_i] = NARROW(type, fer_value);                                       \
            }                                                                                      \
            fer_result += FER_BLOCK_OF(type);                                                      \
            FER_EACH(FER_BLOCK_ADVANCE, 0, __VA_ARGS__)                                            \
            __asm__ volatile("");                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void fer_blocks__##name(index_t fer_num_blocks, void *fer_result,                       \
                                   const void *const *fer_operands, const index_t *fer_steps)      \
    {                                                                                              \
        fer_loop__##name(fer_num_blocks, fer_result FER_EACH(FER_BLOCK_ARGUMENT, 0, __VA_ARGS__)); \
    }                                                                                              \
    FER_RUN_FUNCTION(map, name)                                                                    \
    {                                                                                              \
        return fer_run_map(fer_kernel_context, fer_tensors, FER_COUNT(__VA_ARGS__),                \
                           FER_BLOCK_OF(type), fer_blocks__##name);                                \
    }                                                                                              \
    FER_DECLARE_SIGNATURE(name)                                                                    \
    FER_ENTRY(map, name, FER_ABI_MAP, fer_signature__##name, 1 + FER_COUNT(__VA_ARGS__),           \
              FER_UNPACK(FER_ROW_(FER_ABI_RESULT, , type, ANY, result)                             \
                             FER_EACH(FER_ROW, 0, __VA_ARGS__)))

/* Values that the declaration gives. */

#define FER_TYPE_int const int64_t
#define FER_TYPE_float const double
#define FER_TYPE_bool const bool
#define FER_TYPE__Bool const bool /* `bool` is a macro */
#define FER_TYPE_str const char *const

#define FER_PARAM_GIVEN(kind, name, default_value)                                                 \
    static FER_TYPE_##kind name FER_UNUSED = FER_SECOND(FER_VALUE_##name, default_value)
/* Tells who loads an object that was not made for a declaration that it has a default in it. */
#define FER_PARAM_MARK(name)                                                                       \
    extern const char ferrule_default_of_##name;                                                   \
    __attribute__((weak, visibility("default"))) const char ferrule_default_of_##name = 0
#ifdef FER_SPECIALISED
/* Linking fails where a parameter without a value is used. */
#define FER_PARAM_OPEN(kind, name, default_value)                                                  \
    extern FER_TYPE_##kind name __asm__("the_value_of_parameter_" #name)
#else
#define FER_PARAM_OPEN(kind, name, default_value)                                                  \
    FER_PARAM_GIVEN(kind, name, default_value);                                                    \
    FER_PARAM_MARK(name)
#endif
#define FER_PARAM(kind, name, default_value)                                                       \
    FER_THIRD(FER_VALUE_##name, FER_PARAM_GIVEN, FER_PARAM_OPEN)(kind, name, default_value)
#define FER_DTYPE_VAR(name, default_dtype) typedef FER_SECOND(FER_DTYPE_##name, default_dtype) name

/* The author's words. */

#ifdef FER_DESCRIBE
#define KERNEL(name, ...) FER_FOUND kernel name
#define MAP(name, result, ...) FER_FOUND kernel name
#define SHAPE(name, ...) FER_FOUND shape name
#define SIGNATURE(name, text) FER_FOUND signature name text;
#else
/* A kernel over views: results (OUT) first, then operands (IN, INOUT) in declared order. */
#define KERNEL(name, ...) FER_KERNEL(name, FER_WANTED(name), __VA_ARGS__)
/* A function of one element of each operand; the loop, for any rank, comes by itself. */
#define MAP(name, result, ...) FER_MAP(name, result, FER_WANTED(name), __VA_ARGS__)
/* Computes the data-dependent extents of the kernel of that name from its operands. */
#define SHAPE(name, ...) FER_SHAPE(name, FER_WANTED(name), __VA_ARGS__)
/* The declaration behind the name: SIGNATURE(halve, "(x: f32[n]) -> f32[n // 2]"). */
#define SIGNATURE(name, text) FER_SIGNATURE(name, FER_WANTED(name), text)
#endif

/* PARAM(int, factor, 2): a constant; the default lets a file compile by itself. */
#define PARAM(kind, name, default_value) FER_PARAM(kind, name, default_value)
/* DTYPE_VAR(T, f32): a type. */
#define DTYPE_VAR(name, default_dtype) FER_DTYPE_VAR(name, default_dtype)

/* In a SHAPE, where the extent of a data-dependent dim goes. */
#define EXTENT(name) (*fer_kernel_context->extent(fer_kernel_context, #name))

/* Never called: there for the compiler to check formats. */
static FER_UNUSED __attribute__((format(printf, 1, 2))) int fer_format(const char *format, ...)
{
    (void)format;
    return 0;
}

/* Leaves the KERNEL or SHAPE with a message for the caller, in printf's format. */
#define FAIL(...)                                                                                  \
    return ((void)(0 && fer_format(__VA_ARGS__)),                                                  \
            fer_kernel_context->fail(fer_kernel_context, __FILE__, __LINE__, __VA_ARGS__))
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL(__VA_ARGS__);                                                                     \
    } while (0)

/* The product of the extents, at most INT64_MAX; an extent that is negative where there is one. */
FER_INLINE index_t fer_scratch_count(const index_t *extents, size_t num_extents)
{
    index_t count = 1;
    for (size_t i = 0; i < num_extents; i++)
        if (extents[i] < 0)
            return extents[i];
    for (size_t i = 0; i < num_extents; i++)
        if (extents[i] == 0)
            return 0;
    for (size_t i = 0; i < num_extents; i++)
        count = extents[i] > INT64_MAX / count ? INT64_MAX : count * extents[i];
    return count;
}

FER_INLINE void *fer_scratch(fer_context *context, index_t count, size_t element_bytes)
{
    if (count < 0 || (uint64_t)count > INT64_MAX / (uint64_t)element_bytes)
        return NULL;
    return context->scratch(context, count == 0 ? 1 : (uint64_t)count * element_bytes);
}

/* Uninitialised memory for an array of these extents (one is a count of elements), until the kernel
 * has returned; without it the kernel fails. */
#define SCRATCH(type, ...)                                                                         \
    __extension__({                                                                                \
        const index_t fer_extents[] = {__VA_ARGS__};                                               \
        const index_t fer_count =                                                                  \
            fer_scratch_count(fer_extents, sizeof(fer_extents) / sizeof(index_t));                 \
        type *fer_memory = fer_scratch(fer_kernel_context, fer_count, sizeof(type));               \
        if (fer_memory == NULL)                                                                    \
            FAIL("out of memory for scratch of %lld elements", (long long)fer_count);              \
        fer_memory;                                                                                \
    })

#endif /* C */
#endif
