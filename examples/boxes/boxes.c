#include <ferrule/kernel.h>
#include <math.h>

/* A box is its left, top, right and lower edge. */
SIGNATURE(best, "(scores: f32[n], least: f32[]) -> (index: i64[], is_found: bool[])");
SIGNATURE(mark, "(inout kept: bool[n], index: i64[]) -> ()");
SIGNATURE(suppress, "(scores: f32[n], boxes: f32[n, 4], index: i64[], overlap: f32[]) -> f32[n]");

/* The place of the highest score that is at least `least`, of equal ones the first. */
KERNEL(best, OUT(i64, 0, index), OUT(bool, 0, is_found), IN(f32, 1, scores), IN(f32, 0, least))
{
    index_t found = -1;
    for (index_t i = 0; i < DIM(scores, 0); i++)
        if (AT(scores, i) >= AT(least) && (found < 0 || AT(scores, i) > AT(scores, found)))
            found = i;
    AT(index) = found;
    AT(is_found) = found >= 0;
    return OK;
}

KERNEL(mark, INOUT(bool, 1, kept), IN(i64, 0, index))
{
    CHECK(AT(index) >= 0 && AT(index) < DIM(kept, 0), "there is no box %lld", (long long)AT(index));
    AT(kept, AT(index)) = true;
    return OK;
}

static f32 area(const f32 *box)
{
    return fmaxf(box[2] - box[0], 0) * fmaxf(box[3] - box[1], 0);
}

/* What two boxes share over what they cover together; 0 where they cover nothing. */
static f32 shared(const f32 *a, const f32 *b)
{
    const f32 both =
        area((f32[]){fmaxf(a[0], b[0]), fmaxf(a[1], b[1]), fminf(a[2], b[2]), fminf(a[3], b[3])});
    const f32 any = area(a) + area(b) - both;
    return any > 0 ? both / any : 0;
}

/* The scores without those of box `index` and of the boxes that share more than `overlap` with it:
 * they become NaN, which is no score. */
KERNEL(suppress, OUT(f32, 1, y), IN(f32, 1, scores), IN(f32, 2, boxes), IN(i64, 0, index),
       IN(f32, 0, overlap))
{
    CHECK(AT(index) >= 0 && AT(index) < DIM(boxes, 0), "there is no box %lld",
          (long long)AT(index));
    const f32 *one = &AT(boxes, AT(index), 0);
    for (index_t i = 0; i < DIM(scores, 0); i++) {
        const bool goes = i == AT(index) || shared(&AT(boxes, i, 0), one) > AT(overlap);
        AT(y, i) = goes ? NAN : AT(scores, i);
    }
    return OK;
}
