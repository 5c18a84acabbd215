/* Substitution for whoever says in a message of their own which dim it was. */
#ifndef FERRULE_TYPES_SUBSTITUTE_H
#define FERRULE_TYPES_SUBSTITUTE_H

#include "base/error.h"
#include <ferrule/dim.h>

/* fer_dim_substitute, but a failure says only what went wrong: `division by zero`. */
fer_status fer_dim_fold(const fer_dim *dim, const fer_substitution *substitutions,
                        size_t num_substitutions, fer_dim **out_dim, fer_error *error);

#endif
