/* What printing and parsing programs share. */
#ifndef FERRULE_GRAPH_TEXT_H
#define FERRULE_GRAPH_TEXT_H

#include "base/lexer.h"
#include "graph/graph.h"

/* A word that means something else where a value stands: a value of that name is quoted. */
bool fer_is_reserved_name(const char *name);

/* Reads the program's text. Owned by the function that parses a module. */
typedef struct fer_program_reader {
    fer_lexer lexer;
    const fer_program_host *host;
    const char *folder; /* NULL: the working directory */
    fer_module *module;
    char *paths[FER_MAX_PACKAGES]; /* that `use` lines named so far */
    fer_package *packages[FER_MAX_PACKAGES];
    size_t num_packages;
} fer_program_reader;

/* Puts the token's place before a message that has none. Returns `status`. */
fer_status fer_program_locate(const fer_program_reader *reader, const fer_token *token,
                              fer_status status, fer_error *error);
/* Steps over a NAME, or a string that is a name, for the caller to free. */
fer_status fer_program_expect_name(fer_program_reader *reader, const char *what, char **out_name,
                                   fer_error *error);
/* The token after the next one. */
fer_token fer_program_peek(const fer_program_reader *reader);
/* The op of a call, for the caller to release: declared by the program, or by a package it uses,
 * with these parameters' values in place of its own. */
fer_status fer_program_find_op(fer_program_reader *reader, const fer_token *at, const char *name,
                               const fer_param *params, size_t num_params, fer_op **out_op,
                               fer_error *error);
/* `f32[n, 3]`, and ` @ 1` for another device than the first. */
fer_status fer_program_parse_type(fer_program_reader *reader, fer_type **out_type,
                                  fer_error *error);

/* From behind the word `graph` to the closing brace. */
fer_status fer_program_parse_graph(fer_program_reader *reader, fer_error *error);
/* One step of a body: up to the end of a call, a constant or a rebind. */
fer_status fer_program_parse_step(fer_program_reader *reader, fer_graph *graph, fer_error *error);
/* Steps over the name of a value that there is. */
fer_status fer_program_expect_value(fer_program_reader *reader, fer_graph *graph,
                                    fer_value **out_value, fer_error *error);

#endif
