/* Modules and graphs: ops staged once, to be run many times.
 *
 * A fer_module holds graphs by name and is reference-counted. A graph belongs to its module and
 * lives as long as it. A graph under construction and its module belong to one thread; a finished
 * graph (fer_graph_output was called) is immutable and may be shared. A fer_value belongs to its
 * graph and lives as long as it; it is never released.
 */
#ifndef FERRULE_GRAPH_H
#define FERRULE_GRAPH_H

#include <ferrule/op.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fer_module fer_module;
typedef struct fer_graph fer_graph;
typedef struct fer_value fer_value;

FER_API FER_MUST_USE fer_status fer_module_create(fer_module **out_module, fer_error *error);
FER_API fer_module *fer_module_retain(const fer_module *module);
FER_API void fer_module_release(fer_module *module); /* NULL-safe */

/* Reads a program: docs/programs.md is the language. Declares its ops (compiling what is not
 * cached). `source_name` is how messages name the text (NULL: `program`); `folder` is what relative
 * paths start from (NULL: the working directory). VALUE with `name:line:column` for a fault of
 * syntax, and what declaring and staging refuse.
 *
 * The files of constants stay mapped as fer_npy_map's are, until the last graph that has them goes:
 * read no program whose files somebody may cut meanwhile. IO and UNSUPPORTED: as for fer_npy_read,
 * and a file that is no regular one. VALUE: one that holds another type than the program says, or
 * another content than its digest. TYPE: a text that is NULL. */
FER_API FER_MUST_USE fer_status fer_module_parse(const char *text, const char *source_name,
                                                 const char *folder, fer_module **out_module,
                                                 fer_error *error);
FER_API FER_MUST_USE fer_status fer_module_read(const char *path, fer_module **out_module,
                                                fer_error *error);

/* The program's text, with tokens and all constants; parsing it gives an equal module. Packages are
 * named by absolute paths, but for `std` and `blas`. VALUE: a graph that is not finished. The
 * caller frees it with fer_string_free. */
FER_API FER_MUST_USE fer_status fer_module_print(const fer_module *module, char **out_text,
                                                 fer_error *error);
/* Writes the program to a file. Each constant of more than 4096 bytes goes to a file of its own in
 * a folder beside it, `thumbnail.data` for `thumbnail.fer`, under a name that is its digest; one
 * that is there with the same content is left. Reading the file, also after it was moved with that
 * folder, gives an equal module. Paths of packages start at the file's folder where they are
 * shorter so.
 *
 * Each file is written whole or not at all, with the permissions that the umask leaves, and the
 * program last; what was there under its name is replaced, and no other file is removed. VALUE: a
 * graph that is not finished. TYPE: a path that is NULL. IO. */
FER_API FER_MUST_USE fer_status fer_module_write(const fer_module *module, const char *path,
                                                 fer_error *error);
/* The graphs in Graphviz's language: a cluster each, of inputs, ops and outputs. What `ferrule show
 * --dot` prints. The caller frees it with fer_string_free. */
FER_API FER_MUST_USE fer_status fer_module_draw(const fer_module *module, char **out_dot,
                                                fer_error *error);
FER_API bool fer_module_equal(const fer_module *a, const fer_module *b);

FER_API size_t fer_module_num_graphs(const fer_module *module);
FER_API fer_graph *fer_module_graph_at(const fer_module *module, size_t index); /* borrowed */
/* Borrowed; NULL when there is none of that name. */
FER_API fer_graph *fer_module_find(const fer_module *module, const char *name);

/* A graph's input. The dims of `type` are static or bare names, else TYPE. With `is_inout` it is a
 * buffer: what the graph changes of it in its place is changed in the caller's tensor. */
typedef struct fer_graph_input {
    const char *name;
    const fer_type *type;
    bool is_inout;
} fer_graph_input;

/* Adds an empty graph; the module owns it, the result is borrowed. VALUE: a name that the module
 * or, among the inputs, the graph already has. TYPE: an input dim that is an expression, an open
 * dim. */
FER_API FER_MUST_USE fer_status fer_graph_create(fer_module *module, const char *name,
                                                 const fer_graph_input *inputs, size_t num_inputs,
                                                 fer_graph **out_graph, fer_error *error);

FER_API const char *fer_graph_name(const fer_graph *graph);
FER_API size_t fer_graph_num_inputs(const fer_graph *graph);
FER_API fer_value *fer_graph_input_at(const fer_graph *graph, size_t index);
FER_API size_t fer_graph_num_outputs(const fer_graph *graph);
FER_API fer_value *fer_graph_output_at(const fer_graph *graph, size_t index);
/* In all blocks; a call of a graph counts as one. */
FER_API size_t fer_graph_num_ops(const fer_graph *graph);
/* Kernels, one for each op and choice of operand dtypes, that the graph's ops, and those of graphs
 * that it calls, do not have yet. A model compiles them, or finds them in the cache, but for ops
 * whose results nobody uses; asked again meanwhile, it says what is left. For progress messages: 0
 * also when there is no memory to count. */
FER_API size_t fer_graph_num_lacking(const fer_graph *graph);

/* Whether there is a while in it, or in a graph that it calls: how long a run takes does not follow
 * from sizes alone then. */
FER_API bool fer_graph_has_loop(const fer_graph *graph);

FER_API const fer_type *fer_value_type(const fer_value *value); /* borrowed */
/* As an input or a program names it, else NULL. Borrowed. */
FER_API const char *fer_value_name(const fer_value *value);
FER_API fer_graph *fer_value_graph(const fer_value *value); /* borrowed */
/* Whether it is a buffer: an input that is declared inout, or a rebind or reshape of one. */
FER_API bool fer_value_is_inout(const fer_value *value);

/* A constant; the tensor is copied. */
FER_API FER_MUST_USE fer_status fer_graph_constant(fer_graph *graph, const fer_tensor *tensor,
                                                   fer_value **out_value, fer_error *error);

/* Stages an op: the same checks as a call, on types. Data-dependent dims get a name of the graph's.
 * Refusals as in fer_call; VALUE: a value of another graph; a finished graph; a dim that is false
 * for every size; an inout operand that shares memory with another operand, or with an input of the
 * graph that is not declared inout. What only sizes can decide is checked when the graph runs.
 * `out_results` may be `operands`. */
FER_API FER_MUST_USE fer_status fer_graph_stage(fer_graph *graph, const fer_op *op,
                                                fer_value *const *operands, size_t num_operands,
                                                fer_value **out_results, size_t num_results,
                                                fer_error *error);

/* Asserts, when the graph runs, that the value has these dims (RUNTIME when false), and gives it
 * that type. VALUE: another rank; a static dim that contradicts a static one. */
FER_API FER_MUST_USE fer_status fer_graph_rebind(fer_graph *graph, fer_value *value,
                                                 const fer_dim *const *dims, size_t num_dims,
                                                 fer_value **out_value, fer_error *error);

/* The value's elements, in row-major order, under other dims of any rank; nothing is copied. At
 * most one dim may be a constant -1: it is inferred, and its type is the number of elements divided
 * by the other dims. That the elements are as many is asserted when the graph runs (RUNTIME when
 * false), unless it holds for every size. VALUE: it holds for none; a second dim of -1, or one
 * beside a dim of 0; a name that the graph does not know. OVERFLOW: an inferred dim beyond what a
 * fer_dim can be. An op that changes the result in its place changes the value. */
FER_API FER_MUST_USE fer_status fer_graph_reshape(fer_graph *graph, fer_value *value,
                                                  const fer_dim *const *dims, size_t num_dims,
                                                  fer_value **out_value, fer_error *error);

/* A copy of the value on that device: a value of its own, also when the value is there already. An
 * op's operands are on one device, so a value is transferred to where it is used with others.
 * VALUE: a device that does not exist. */
FER_API FER_MUST_USE fer_status fer_graph_transfer(fer_graph *graph, fer_value *value,
                                                   fer_device device, fer_value **out_value,
                                                   fer_error *error);

/* --- Control flow -----------------------------------------------------------------------------
 *
 * What is staged between a call that begins and one that ends goes into a block of its own: an arm,
 * a condition, a body. A block uses the values of the blocks around it; what it makes itself ends
 * with it, but for what it yields. Using such a value later is VALUE. Blocks nest, 100 deep at
 * most.
 *
 *   fer_graph_if(graph, is_small, &error);
 *   fer_graph_stage(graph, twice, &x, 1, &y, 1, &error);
 *   fer_graph_else(graph, &y, 1, &error);
 *   fer_graph_end_if(graph, &x, 1, &result, &error);
 */

/* Begins the first arm of an if, which runs when the predicate, bool[], is true. VALUE: another
 * type, or what fer_graph_rebind says of values. */
FER_API FER_MUST_USE fer_status fer_graph_if(fer_graph *graph, fer_value *predicate,
                                             fer_error *error);
/* Ends the first arm, which yields these values, and begins the other. */
FER_API FER_MUST_USE fer_status fer_graph_else(fer_graph *graph, fer_value *const *values,
                                               size_t num_values, fer_error *error);
/* Ends the if; `out_results` has room for as many values as each arm yields, and may be `values`.
 * VALUE: the arms yield other types or another number; dims that only an arm knows. New bare names
 * that both arms rebound their results to become the graph's. */
FER_API FER_MUST_USE fer_status fer_graph_end_if(fer_graph *graph, fer_value *const *values,
                                                 size_t num_values, fer_value **out_results,
                                                 fer_error *error);

/* Begins the condition of a while. It carries values from one turn to the next: `out_carried`, with
 * as much room (it may be `initial`), are what condition and body see of them. They are memory of
 * the loop's own: an op that changes one in its place does not change the initial value. */
FER_API FER_MUST_USE fer_status fer_graph_while(fer_graph *graph, fer_value *const *initial,
                                                size_t num_values, fer_value **out_carried,
                                                fer_error *error);
/* Ends the condition, which yields the predicate, bool[], and begins the body, which also sees what
 * the condition made. The body runs as long as the predicate is true, perhaps never. */
FER_API FER_MUST_USE fer_status fer_graph_do(fer_graph *graph, fer_value *predicate,
                                             fer_error *error);
/* Ends the while: the body yields the carried values' next ones, and `out_results` are the last.
 * VALUE: another number, or a type that is not the carried value's; a loop that carries a value of
 * changing size is refused here. */
FER_API FER_MUST_USE fer_status fer_graph_end_while(fer_graph *graph, fer_value *const *next,
                                                    size_t num_values, fer_value **out_results,
                                                    fer_error *error);

/* Stages a finished graph of the same module. The dims of its inputs bind to those of the arguments
 * as an op's do; a dim that it finds when it runs gets a name of the caller's, as for ops. What it
 * changes of its inputs is changed in the arguments. TYPE: the number of arguments or results.
 * VALUE: the graph itself, an unfinished one or one of another module (so no recursion can be
 * built); dtype, rank, dims; an argument for an inout input that shares memory with another one, or
 * with an input of this graph that is not declared inout; calls and blocks more than 100 deep. */
FER_API FER_MUST_USE fer_status fer_graph_call(fer_graph *graph, const fer_graph *callee,
                                               fer_value *const *arguments, size_t num_arguments,
                                               fer_value **out_results, size_t num_results,
                                               fer_error *error);

/* Adds a copy of a finished graph to a module, under a name that is new there; `out_graph` is
 * borrowed. The copy is finished. VALUE: a graph that is not finished, or that holds a
 * data-dependent dim, whose name says which graph it is of; a graph that calls others, in another
 * module. TYPE: NULL. */
FER_API FER_MUST_USE fer_status fer_graph_copy(fer_module *module, const fer_graph *graph,
                                               const char *name, fer_graph **out_graph,
                                               fer_error *error);

/* Says that a graph will not be finished and why, for callers that cannot go on building, by an
 * exception of their language for instance. Every later call on it is VALUE and has `why`, as in
 * `an exception, KeyError`, and the block. The first reason stays; a finished graph is not changed.
 */
FER_API FER_MUST_USE fer_status fer_graph_abandon(fer_graph *graph, const char *why,
                                                  fer_error *error);

/* Finishes the graph. A value may be output more than once. VALUE: a second call; a value of
 * another graph or of a block; a block that has not ended. */
FER_API FER_MUST_USE fer_status fer_graph_output(fer_graph *graph, fer_value *const *values,
                                                 size_t num_values, fer_error *error);

/* One argument of a call as a front end has it: an operand by position, or with `keyword` by name.
 */
typedef enum fer_argument_kind {
    FER_ARGUMENT_TENSOR = 0,
    FER_ARGUMENT_VALUE,
    FER_ARGUMENT_NUMBER,
    FER_ARGUMENT_OTHER /* something that is none of them; `type_name` says what */
} fer_argument_kind;

typedef struct fer_argument {
    fer_argument_kind kind;
    const char *keyword;
    union {
        fer_tensor *tensor;
        fer_value *value;
        fer_number number;
        const char *type_name;
    } as;
} fer_argument;

/* The same call for eager tensors and graph values, as languages write it: positional arguments,
 * then keywords; a rank-0 operand takes a plain number. Results come as the operands are: new
 * references to tensors (the caller releases them), or values of the graph.
 * TYPE: tensors and values mixed (lists what came), a missing, duplicate or unexpected name, what
 * is no tensor. And what fer_call and fer_graph_stage refuse. */
FER_API FER_MUST_USE fer_status fer_apply(const fer_op *op, const fer_argument *arguments,
                                          size_t num_arguments, fer_argument *out_results,
                                          size_t num_results, fer_error *error);

/* The same into given tensors, by the rules of fer_call_into. TYPE: a graph value among the
 * arguments, which has no memory yet. */
FER_API FER_MUST_USE fer_status fer_apply_into(const fer_op *op, const fer_argument *arguments,
                                               size_t num_arguments, fer_tensor *const *results,
                                               size_t num_results, fer_error *error);

#ifdef __cplusplus
}
#endif
#endif
