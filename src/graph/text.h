/* What printing and parsing programs share. */
#ifndef FERRULE_GRAPH_TEXT_H
#define FERRULE_GRAPH_TEXT_H

#include "base/lexer.h"
#include "graph/graph.h"

/* A word that means something else where a value stands: a value of that name is quoted. */
bool fer_is_reserved_name(const char *name);
/* `counts: i64[256] @ 1`, as an input stands in its graph's line, without the word `inout`. */
void fer_input_append(fer_text *text, const fer_value *input);

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
/* Steps over a string without a byte 0 in it, which C text cannot hold. The caller frees it. */
fer_status fer_program_expect_text(fer_program_reader *reader, const char *what, char **out_text,
                                   fer_error *error);
/* A path as the program means it: from its folder. Takes `path`, also when it fails. */
fer_status fer_program_place_path(const fer_program_reader *reader, char *path, char **out_path,
                                  fer_error *error);
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
/* One step of a block, which may have blocks in it. */
fer_status fer_program_parse_step(fer_program_reader *reader, fer_graph *graph, fer_error *error);
/* Steps over the name of a value that there is. */
fer_status fer_program_expect_value(fer_program_reader *reader, fer_graph *graph,
                                    fer_value **out_value, fer_error *error);
/* Values that commas part, at least one; freed by the caller, also when it fails. */
fer_status fer_program_parse_values(fer_program_reader *reader, fer_graph *graph,
                                    fer_value ***out_values, size_t *out_num_values,
                                    fer_error *error);

/* Steps over `{name: "text"}` where it comes next, and gives the string's token, else one of length
 * 0. `what` says in messages what the string is. */
fer_status fer_program_parse_attribute(fer_program_reader *reader, const char *name,
                                       const char *what, fer_token *out_string, fer_error *error);

/* The names on the left of a step, and where they stand. */
typedef struct fer_step_names {
    char **names;
    fer_token *tokens;
    size_t count;
    size_t names_capacity;
    size_t tokens_capacity;
} fer_step_names;

/* Adds a name that comes next. */
fer_status fer_step_names_read(fer_step_names *names, fer_program_reader *reader, fer_error *error);
fer_status fer_step_names_give(const fer_step_names *names, fer_program_reader *reader,
                               fer_value *const *values, fer_error *error);
void fer_step_names_clear(fer_step_names *names);
/* VALUE, unless a step that gives `num_results` values has as many names. */
fer_status fer_step_names_check(const fer_step_names *names, const fer_program_reader *reader,
                                const fer_graph *graph, const fer_token *at, const char *op,
                                size_t num_results, fer_error *error);

/* VALUE, unless one name takes a step's value; `what` is the step's word. */
fer_status fer_step_names_check_one(const fer_step_names *names, const fer_program_reader *reader,
                                    const char *what, fer_error *error);

/* Puts the graph and the place before a message that staging gave. */
fer_status fer_program_locate_in(const fer_program_reader *reader, const fer_graph *graph,
                                 const fer_token *at, fer_status status, fer_error *error);

/* What to write instead of a word that other languages begin a step or a call with; NULL: of others
 * nothing is known. */
const char *fer_program_advice(const char *word);
/* What the standard package calls an op that others call `name`; or NULL. */
const char *fer_program_standard_name(const char *name);
/* Ends a message of VALUE with advice. Returns `status`. */
fer_status fer_program_advise(fer_status status, fer_error *error, const char *advice);
/* Whether a number, true or false comes next. */
bool fer_program_at_number(const fer_program_reader *reader);
/* As fer_lexer_expect, behind a value: an operator there is told what stands for it. */
fer_status fer_program_expect(fer_program_reader *reader, const char *text, const char *where,
                              fer_error *error);
/* VALUE: what comes next is no such name; with what it may have been meant for. */
fer_status fer_program_unexpected(const fer_program_reader *reader, const char *what,
                                  fer_error *error);
/* VALUE, unless what comes next can name a value. */
fer_status fer_program_require_name(const fer_program_reader *reader, fer_error *error);
/* Whether an op and its operands come next, rather than a comparison. */
bool fer_program_at_call(const fer_program_reader *reader, const fer_graph *graph);
/* VALUE: names, of which this is the first, without a `=` behind them; a right side that is none.
 */
fer_status fer_program_fail_names(fer_program_reader *reader, const fer_graph *graph,
                                  const fer_token *first, fer_error *error);
fer_status fer_program_fail_right(fer_program_reader *reader, const fer_graph *graph,
                                  fer_error *error);

/* `constant f32[2] [1, 2]`, `constant f32[64, 3] from "weights.npy"`; from the word on. */
fer_status fer_program_parse_constant(fer_program_reader *reader, fer_graph *graph,
                                      const fer_step_names *left, fer_error *error);

/* The right sides with blocks, and the call of a graph; from the word on. */
fer_status fer_program_parse_if(fer_program_reader *reader, fer_graph *graph,
                                const fer_step_names *left, fer_error *error);
fer_status fer_program_parse_while(fer_program_reader *reader, fer_graph *graph,
                                   const fer_step_names *left, fer_error *error);
fer_status fer_program_parse_graph_call(fer_program_reader *reader, fer_graph *graph,
                                        const fer_step_names *left, fer_error *error);

/* What a text says of files around it. */
typedef struct fer_print_style {
    const char *folder; /* absolute: paths start there where that is shorter; NULL: nowhere */
    /* Appends where a constant's elements are, by fer_constant_append_file. NULL, or when it
     * appends nothing: in the text. */
    fer_status (*append_file)(void *context, const fer_node *node, fer_text *text,
                              fer_error *error);
    void *context;
} fer_print_style;

fer_status fer_module_print_as(const fer_module *module, const fer_print_style *style,
                               char **out_text, fer_error *error);

/* As the program that it was read from has it: with its files, and paths from `folder`, absolute.
 */
fer_status fer_module_print_as_read(const fer_module *module, const char *folder, char **out_text,
                                    fer_error *error);

#endif
