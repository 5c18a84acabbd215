#include "together.h"

/* A file without a kernel. */
i64 twice(i64 x)
{
    return 2 * x;
}
