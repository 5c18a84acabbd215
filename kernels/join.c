#include "std.h"

SIGNATURE(join2, "<T>(a: T[*s, i], b: T[*s, j]) -> T[*s, i + j]");
SIGNATURE(join3, "<T>(a: T[*s, i], b: T[*s, j], c: T[*s, k]) -> T[*s, i + j + k]");
SIGNATURE(join4, "<T>(a: T[*s, i], b: T[*s, j], c: T[*s, k], d: T[*s, l]) -> "
                 "T[*s, i + j + k + l]");
SIGNATURE(join5, "<T>(a: T[*s, i], b: T[*s, j], c: T[*s, k], d: T[*s, l], e: T[*s, m]) -> "
                 "T[*s, i + j + k + l + m]");
SIGNATURE(join6, "<T>(a: T[*s, i], b: T[*s, j], c: T[*s, k], d: T[*s, l], e: T[*s, m], "
                 "f: T[*s, n]) -> T[*s, i + j + k + l + m + n]");
SIGNATURE(join7, "<T>(a: T[*s, i], b: T[*s, j], c: T[*s, k], d: T[*s, l], e: T[*s, m], "
                 "f: T[*s, n], g: T[*s, o]) -> T[*s, i + j + k + l + m + n + o]");
SIGNATURE(join8, "<T>(a: T[*s, i], b: T[*s, j], c: T[*s, k], d: T[*s, l], e: T[*s, m], "
                 "f: T[*s, n], g: T[*s, o], h: T[*s, p]) -> T[*s, i + j + k + l + m + n + o + p]");
DTYPE_VAR(T, f32);

typedef struct part {
    const T *data;
    index_t length; /* of a row */
} part;

/* Each row of the result is the parts' rows, one behind the other. */
static void join(T *restrict to, index_t num_rows, const part *parts, int num_parts)
{
    for (index_t row = 0; row < num_rows; row++)
        for (int i = 0; i < num_parts; i++) {
            const index_t length = parts[i].length;
            for (index_t j = 0; j < length; j++)
                to[j] = parts[i].data[row * length + j];
            to += length;
        }
}

#define PART(x)                                                                                    \
    {                                                                                              \
        DATA(x), ROW_LENGTH(x)                                                                     \
    }
#define JOIN(...)                                                                                  \
    const part parts[] = {__VA_ARGS__};                                                            \
    join(DATA(y), NUM_ROWS(y), parts, sizeof parts / sizeof *parts);                               \
    return OK

KERNEL(join2, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b))
{
    JOIN(PART(a), PART(b));
}

KERNEL(join3, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b), IN(T, ANY, c))
{
    JOIN(PART(a), PART(b), PART(c));
}

KERNEL(join4, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b), IN(T, ANY, c), IN(T, ANY, d))
{
    JOIN(PART(a), PART(b), PART(c), PART(d));
}

KERNEL(join5, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b), IN(T, ANY, c), IN(T, ANY, d),
       IN(T, ANY, e))
{
    JOIN(PART(a), PART(b), PART(c), PART(d), PART(e));
}

KERNEL(join6, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b), IN(T, ANY, c), IN(T, ANY, d),
       IN(T, ANY, e), IN(T, ANY, f))
{
    JOIN(PART(a), PART(b), PART(c), PART(d), PART(e), PART(f));
}

KERNEL(join7, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b), IN(T, ANY, c), IN(T, ANY, d),
       IN(T, ANY, e), IN(T, ANY, f), IN(T, ANY, g))
{
    JOIN(PART(a), PART(b), PART(c), PART(d), PART(e), PART(f), PART(g));
}

KERNEL(join8, OUT(T, ANY, y), IN(T, ANY, a), IN(T, ANY, b), IN(T, ANY, c), IN(T, ANY, d),
       IN(T, ANY, e), IN(T, ANY, f), IN(T, ANY, g), IN(T, ANY, h))
{
    JOIN(PART(a), PART(b), PART(c), PART(d), PART(e), PART(f), PART(g), PART(h));
}
