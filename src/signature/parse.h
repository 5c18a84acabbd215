/* Parsing a declaration inside a larger text. */
#ifndef FERRULE_SIGNATURE_PARSE_H
#define FERRULE_SIGNATURE_PARSE_H

#include "base/lexer.h"
#include "signature/pool.h"
#include <ferrule/signature.h>

/* Parses a declaration, from the op's name up to the first token that cannot continue it. */
fer_status fer_signature_parse_tokens(fer_lexer *lexer, fer_signature **out_signature,
                                      fer_error *error);

/* Parses a whole declaration with these values in the place of its own, which then fold first.
 * Refusals as in fer_signature_specialise. */
fer_status fer_signature_parse_given(const char *text, const fer_param *params, size_t num_params,
                                     fer_signature **out_signature, fer_error *error);

/* The head of a declaration's text: its name and, as far as `<...>` says, its parameters, owned by
 * the pool. Needs nothing of the rest, whose dims may wait for the parameters' values.
 * `out_params` has room for FER_MAX_GENERICS. */
fer_status fer_signature_parse_head(const char *text, fer_pool *pool, const char **out_name,
                                    fer_param *out_params, size_t *out_num_params,
                                    fer_error *error);

/* Parses one condition, `n % 8 == 0`, of a declaration with these parameters; the pool owns its
 * dims and its text. */
fer_status fer_condition_parse(fer_lexer *lexer, const fer_signature_spec *spec, fer_pool *pool,
                               fer_condition *out_condition, fer_error *error);

#endif
