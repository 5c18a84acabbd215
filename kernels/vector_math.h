/* <math.h>, with the functions that glibc has in vector form declared so, for MAPs: a MAP runs all
 * its elements through one loop over whole blocks, so each gets the vector routine's bits. In the
 * loops of a KERNEL the last few elements would get the scalar twin's, which differ: they include
 * <math.h>.
 */
#ifndef FERRULE_STD_VECTOR_MATH_H
#define FERRULE_STD_VECTOR_MATH_H

#include <math.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define FER_VECTOR __attribute__((simd("notinbranch"), const))
FER_VECTOR double erf(double x);
FER_VECTOR double erfc(double x);
FER_VECTOR double exp(double x);
FER_VECTOR double log(double x);
FER_VECTOR double pow(double x, double y);
FER_VECTOR double tanh(double x);
FER_VECTOR float erff(float x);
FER_VECTOR float erfcf(float x);
FER_VECTOR float expf(float x);
FER_VECTOR float logf(float x);
FER_VECTOR float powf(float x, float y);
FER_VECTOR float tanhf(float x);
#endif
#endif

#endif
