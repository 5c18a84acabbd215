/* Checked int64 arithmetic over extents: sizes never wrap. And wider integers. */
#ifndef FERRULE_BASE_ARITHMETIC_H
#define FERRULE_BASE_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 fer_int128;

/* The product of extents, none of them negative; false when it leaves int64. A zero makes it zero,
 * however large the others are. */
static inline bool fer_count_elements(const int64_t *extents, size_t rank, int64_t *out_count)
{
    int64_t count = 1;
    bool has_overflowed = false;
    for (size_t i = 0; i < rank; i++)
        has_overflowed |= __builtin_mul_overflow(count, extents[i], &count);
    for (size_t i = 0; has_overflowed && i < rank; i++)
        if (extents[i] == 0) {
            count = 0;
            has_overflowed = false;
        }
    *out_count = count;
    return !has_overflowed;
}

/* Floors, as dims do everywhere. `b` is not 0; false when the quotient leaves int64. */
static inline bool fer_floor_divide(int64_t a, int64_t b, int64_t *out_quotient)
{
    if (b == -1)
        return !__builtin_sub_overflow((int64_t)0, a, out_quotient);
    int64_t quotient = a / b;
    if (a % b != 0 && (a < 0) != (b < 0))
        quotient--;
    *out_quotient = quotient;
    return true;
}

#endif
