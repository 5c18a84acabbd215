/* Elements of the operands that `ferrule verify` makes. */
#include "cli/verify.h"

#include "tensor/smallfloat.h"

#include <string.h>

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t fer_random_below(uint64_t *state, uint64_t bound)
{
    return next_random(state) % bound;
}

/* A float's fields; all 0 for an integer. */
static const struct {
    uint8_t exponent_bits;
    uint8_t mantissa_bits;
} FORMATS[FER_NUM_DTYPES] = {
    [FER_F16] = {5, 10},  [FER_BF16] = {8, 7},     [FER_F32] = {8, 23},
    [FER_F64] = {11, 52}, [FER_F8E4M3FN] = {4, 3}, [FER_F8E5M2] = {5, 2},
};

/* Zeros, subnormals, numbers round 1, the largest, infinities and NaNs of both signs. */
static uint64_t special_float(fer_dtype dtype, uint64_t *random)
{
    const unsigned mantissa_bits = FORMATS[dtype].mantissa_bits;
    const unsigned exponent_bits = FORMATS[dtype].exponent_bits;
    const uint64_t last = ((uint64_t)1 << exponent_bits) - 1;
    const uint64_t ones = ((uint64_t)1 << mantissa_bits) - 1;
    const uint64_t exponents[] = {0, 0, 1, last / 2, last / 2 + 1, last - 1, last};
    const uint64_t mantissas[] = {0, 0, 1, ones / 2 + 1, ones};
    return fer_random_below(random, 2) << (exponent_bits + mantissa_bits) |
           exponents[fer_random_below(random, 7)] << mantissa_bits |
           mantissas[fer_random_below(random, 5)];
}

static uint64_t special_integer(unsigned num_bits, uint64_t *random)
{
    const uint64_t top = (uint64_t)1 << (num_bits - 1);
    const uint64_t values[] = {0, 1, 2, ~(uint64_t)0, top, top - 1, top + 1, top - 2};
    const uint64_t choice = fer_random_below(random, 9);
    return choice == 8 ? next_random(random) : values[choice];
}

static uint64_t float_bits(fer_dtype dtype, double value)
{
    const float single = (float)value;
    uint32_t single_bits;
    uint64_t bits;
    memcpy(&single_bits, &single, sizeof single_bits);
    memcpy(&bits, &value, sizeof bits);
    if (fer_dtype_is_small_float(dtype))
        return fer_small_float_encode(dtype, value);
    return dtype == FER_F32 ? single_bits : bits;
}

/* One less than the shortest axis that has an element, and at most what every dtype holds. */
static uint64_t largest_index(const fer_case *a_case)
{
    int64_t shortest = 128;
    for (size_t i = 0; i < a_case->op->num_operands; i++)
        for (size_t j = 0; j < a_case->shapes[i].rank; j++) {
            const int64_t extent = a_case->shapes[i].extents[j];
            shortest = extent > 0 && extent < shortest ? extent : shortest;
        }
    return (uint64_t)shortest - 1;
}

static uint64_t make_bits(fer_dtype dtype, fer_case_values values, uint64_t largest,
                          uint64_t *random)
{
    const bool is_float = FORMATS[dtype].mantissa_bits > 0;
    if (dtype == FER_BOOL)
        return fer_random_below(random, 2);
    if (values == FER_SPECIAL)
        return is_float ? special_float(dtype, random)
                        : special_integer(8 * (unsigned)fer_dtype_bytes(dtype), random);
    const bool is_signed = values == FER_PLAIN && (FER_DTYPE_BIT(dtype) & FER_ANY_UNSIGNED) == 0;
    if (is_float)
        return float_bits(dtype, ((double)fer_random_below(random, 33) - (is_signed ? 16 : 0)) / 8);
    return values == FER_SMALL ? fer_random_below(random, largest + 1)
                               : fer_random_below(random, 17) - (is_signed ? 8 : 0);
}

void fer_case_fill(const fer_case *a_case, size_t operand, void *data, size_t num_elements)
{
    const fer_dtype dtype = a_case->choice->dtypes[operand];
    const size_t element_bytes = fer_dtype_bytes(dtype);
    const uint64_t largest = largest_index(a_case);
    uint64_t random = a_case->index * FER_MAX_OPERANDS + operand;
    for (size_t i = 0; i < num_elements; i++) {
        const uint64_t bits = make_bits(dtype, a_case->values, largest, &random);
        memcpy((char *)data + i * element_bytes, &bits, element_bytes); /* little endian */
    }
}
