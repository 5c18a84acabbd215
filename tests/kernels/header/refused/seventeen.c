/* more_than_16_results_and_operands */
#include <ferrule/kernel.h>

KERNEL(k, OUT(f32, 0, a), IN(f32, 0, b), IN(f32, 0, c), IN(f32, 0, d), IN(f32, 0, e), IN(f32, 0, f),
       IN(f32, 0, g), IN(f32, 0, h), IN(f32, 0, i), IN(f32, 0, j), IN(f32, 0, l), IN(f32, 0, m),
       IN(f32, 0, n), IN(f32, 0, o), IN(f32, 0, p), IN(f32, 0, q), IN(f32, 0, r))
{
    return OK;
}
