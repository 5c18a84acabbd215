#include <ferrule/kernel.h>

SIGNATURE(median, "(counts: i64[n]) -> i64[]");

/* The first level that at least half of all counted are not above; 0 where nothing was. */
KERNEL(median, OUT(i64, 0, y), IN(i64, 1, counts))
{
    u64 total = 0;
    for (index_t i = 0; i < DIM(counts, 0); i++) {
        CHECK(AT(counts, i) >= 0, "count %lld is negative", (long long)i);
        total += (u64)AT(counts, i);
    }
    u64 found = 0;
    index_t level = 0;
    for (; level < DIM(counts, 0) - 1; level++) {
        found += (u64)AT(counts, level);
        if (found >= total - found)
            break;
    }
    AT(y) = level;
    return OK;
}
