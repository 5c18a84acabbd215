/* expected */
#include <ferrule/kernel.h>

static const char text[] = "(x: f32[]) -> f32[]";
SIGNATURE(k, text);
