/* integer */
#include <ferrule/kernel.h>

PARAM(integer, n, 1);
