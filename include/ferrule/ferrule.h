/* Ferrule: the host side, whole. Kernels include ferrule/kernel.h instead. */
#ifndef FERRULE_H
#define FERRULE_H

#include <ferrule/dim.h>
#include <ferrule/dlpack.h>
#include <ferrule/dtype.h>
#include <ferrule/graph.h>
#include <ferrule/model.h>
#include <ferrule/op.h>
#include <ferrule/package.h>
#include <ferrule/signature.h>
#include <ferrule/status.h>
#include <ferrule/tensor.h>
#include <ferrule/type.h>

#endif
