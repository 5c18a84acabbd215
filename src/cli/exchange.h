/* Tensors from and to a person: files by their extension (.npy, .png), plain numbers, printed text.
 */
#ifndef FERRULE_CLI_EXCHANGE_H
#define FERRULE_CLI_EXCHANGE_H

#include "cli/cli.h"

/* What NAME=INPUT gives: a tensor, or a number. */
typedef struct fer_given_input {
    const char *name;
    fer_tensor *tensor; /* owned; NULL: a number */
    fer_number number;
} fer_given_input;

/* Reads one. A picture is read as fer_picture_decode does `picture_dtype`. VALUE: neither a
 * file that can be read nor a number. OVERFLOW: an integer outside 64 bits, a float outside f64. */
fer_status fer_input_read(const char *name, const char *text, fer_dtype picture_dtype,
                          fer_given_input *out_input, fer_error *error);
void fer_inputs_clear(fer_given_input *inputs, size_t num_inputs);

/* What a picture is read as for an operand of this dtype. */
fer_dtype fer_picture_dtype(fer_dtype dtype);

/* One -o [NAME=]PATH. */
typedef struct fer_given_output {
    const char *name; /* NULL: the next result without one */
    const char *path;
} fer_given_output;

/* Splits the value of -o in place. */
fer_given_output fer_output_split(char *text);

/* Gives each result its path, NULL where nobody asked. `subject` is the op or graph, `names` holds
 * NULL for a result without a name. VALUE: an unknown name, a result twice, more outputs than
 * results, a path that is neither .npy nor .png. */
fer_status fer_outputs_assign(const char *subject, const fer_given_output *outputs,
                              size_t num_outputs, const char *const *names, size_t num_results,
                              const char **out_paths, fer_error *error);

/* Writes the results that have a path, and prints the others. */
fer_status fer_outputs_publish(const char *const *names, fer_tensor *const *tensors,
                               const char *const *paths, size_t num_results, fer_error *error);

#endif
