/* Shared by the files of one package. */
#ifndef TOGETHER_H
#define TOGETHER_H

#include <ferrule/kernel.h>

i64 twice(i64 x);

#endif
