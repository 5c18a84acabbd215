/* What the subcommands share. Each is one file with one fer_subcommand; main.c lists them.
 *
 * A subcommand gives the process's exit code: 0, 1 after an error on stderr as
 * `ferrule: KIND: message`, 2 after wrong usage with a usage line on stderr.
 */
#ifndef FERRULE_CLI_CLI_H
#define FERRULE_CLI_CLI_H

#include "base/error.h"
#include "signature/pool.h"
#include <ferrule/ferrule.h>
#include <getopt.h>

enum { FER_EXIT_FAILED = 1, FER_EXIT_MISUSE = 2 };

typedef struct fer_subcommand {
    const char *name;
    const char *arguments;        /* as the usage line shows them */
    const char *summary;          /* one line */
    const char *help;             /* what --help adds, whole lines; may be "" */
    const char *letters;          /* for getopt_long, starting with `:` */
    const struct option *options; /* the same */
    int (*run)(int argc, char **argv);
} fer_subcommand;

extern const fer_subcommand fer_command_run;
extern const fer_subcommand fer_command_call;
extern const fer_subcommand fer_command_infer;
extern const fer_subcommand fer_command_dim;
extern const fer_subcommand fer_command_check;
extern const fer_subcommand fer_command_list;
extern const fer_subcommand fer_command_show;
extern const fer_subcommand fer_command_fmt;
extern const fer_subcommand fer_command_cache;
extern const fer_subcommand fer_command_verify;

/* Every subcommand knows --help, and most know nothing else. */
#define FER_HELP_OPTION                                                                            \
    {                                                                                              \
        "help", no_argument, NULL, 'h'                                                             \
    }
extern const struct option FER_ONLY_HELP[];

/* The next option's letter, its value in `optarg`. FER_OPTIONS_END: arguments start at `optind`;
 * FER_OPTIONS_HELP and FER_OPTIONS_BAD: what there is to say was printed, leave with
 * fer_options_exit. */
enum { FER_OPTIONS_END = -1, FER_OPTIONS_HELP = -2, FER_OPTIONS_BAD = -3 };
int fer_next_option(const fer_subcommand *command, int argc, char **argv);
int fer_options_exit(int option);

/* For subcommands without options: whether there was none; else the code to leave with. */
bool fer_has_no_options(const fer_subcommand *command, int argc, char **argv, int *out_exit);

/* Prints what is wrong and the usage line, and returns FER_EXIT_MISUSE. */
__attribute__((format(printf, 2, 3))) int fer_misuse(const fer_subcommand *command,
                                                     const char *format, ...);
/* Prints the error, clears it, and returns FER_EXIT_FAILED; 0 when `status` is FER_OK. */
int fer_finish(fer_status status, fer_error *error);

/* Whether an argument is of the form NAME=VALUE; and splitting one that is, in place. */
bool fer_is_pair(const char *argument);
void fer_split_pair(char *pair, const char **out_name, const char **out_value);

/* What a person gives as DECLARATION: a declaration, or the name of a kernel whose package, among
 * `packages`, declares it. */
typedef struct fer_given_declaration {
    const char *text;
    const char *packages[FER_MAX_PACKAGES];
    size_t num_packages;
} fer_given_declaration;

/* Adds a --package; wrong usage when there are too many. */
bool fer_given_add_package(fer_given_declaration *given, const char *path);
/* The declaration's text, which the pool may keep. NULL, with FER_OK, when it is a name that no
 * package declares: declaring it says what is wrong. */
fer_status fer_given_text(const fer_given_declaration *given, fer_pool *pool, const char **out_text,
                          fer_error *error);
/* Declares the op, with `params` in place of its own values. */
fer_status fer_given_declare(const fer_given_declaration *given, const fer_param *params,
                             size_t num_params, fer_op **out_op, fer_error *error);

/* Prints this process's counters on stderr, one on a line. */
void fer_print_counters(void);

/* Shows the compiler's warnings, and on a terminal what compiles when it takes over half a second.
 */
void fer_progress_start(void);

#endif
