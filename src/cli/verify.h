/* ferrule verify, in parts: which calls to make of a declaration (verify_cases.c, with their sizes
 * in verify_shapes.c and elements in verify_values.c), making them (verify_run.c) and watching
 * (verify_watch.c), and telling about it (verify.c).
 */
#ifndef FERRULE_CLI_VERIFY_H
#define FERRULE_CLI_VERIFY_H

#include "base/text.h"
#include "op/held.h"
#include "op/op.h"

/* --- Cases ------------------------------------------------------------------------------------ */

/* What elements are. FER_SMALL: no number is negative, and integers can index every axis that has
 * an element. FER_SPECIAL: infinities, NaNs, -0.0, subnormals, the ends of the integers' range. */
typedef enum fer_case_values { FER_SMALL, FER_PLAIN, FER_SPECIAL, FER_NUM_VALUES } fer_case_values;

typedef struct fer_case_shape {
    size_t rank;
    int64_t extents[FER_MAX_RANK];
} fer_case_shape;

/* Operands' shapes that the declaration allows for one choice of its parameters. */
typedef struct fer_case_op {
    fer_op *op;
    fer_case_shape *shapes; /* [num_shapes][num_operands] */
    size_t num_shapes;
} fer_case_op;

/* A choice of parameters and dtypes. */
typedef struct fer_case_choice {
    size_t op;
    fer_dtype dtypes[FER_MAX_OPERANDS];       /* of the operands */
    const fer_specialisation *specialisation; /* NULL: it does not compile */
    char *refusal;                            /* then the reason; owned */
    fer_status refusal_kind;
} fer_case_choice;

/* The cases of a kernel, in an order that depends on the declaration alone. */
typedef struct fer_cases {
    fer_case_op *ops;
    size_t num_ops;
    fer_case_choice *choices;
    size_t num_choices;
} fer_cases;

typedef struct fer_case {
    size_t index;
    const fer_op *op;
    const fer_case_choice *choice;
    const fer_case_shape *shapes; /* [num_operands] */
    fer_case_values values;
} fer_case;

/* Compiles what the cases need: the op with its own parameters for each dtype of each variable, and
 * with other parameters; with `is_quick` only the op as it is. Parameters without a value get one.
 * Takes the op. */
fer_status fer_cases_make(fer_op *op, bool is_quick, fer_cases *out_cases, fer_error *error);
void fer_cases_clear(fer_cases *cases);
size_t fer_cases_count(const fer_cases *cases);
/* `index` is below the count. */
fer_case fer_cases_at(const fer_cases *cases, size_t index);
/* `factor = 2; x: f32[3, 5], y: f32[5]; small values` */
void fer_case_append(fer_text *text, const fer_case *a_case);
/* Fills in an op's shapes, for operands of these dtypes. */
fer_status fer_case_shapes_make(fer_case_op *made, const fer_dtype *dtypes, fer_error *error);
/* A number below `bound`; the state may start as any number. */
uint64_t fer_random_below(uint64_t *state, uint64_t bound);
/* Writes an operand's elements. */
void fer_case_fill(const fer_case *a_case, size_t operand, void *data, size_t num_elements);

/* --- Running ---------------------------------------------------------------------------------- */

typedef enum fer_fault_kind {
    FER_OUT_OF_BOUNDS,
    FER_NOT_WRITTEN,
    FER_OPERAND_WRITTEN,
    FER_DIFFERENT_BITS,
    FER_UNDEFINED_BEHAVIOUR,
    FER_CRASH,
    FER_ENDLESS,
    FER_WRONG_EXTENT,
    FER_NO_COMPILE
} fer_fault_kind;

typedef struct fer_fault {
    fer_fault_kind kind;
    bool is_vague; /* its line is the kernel's */
    bool has_case;
    size_t case_index;
    char file[256]; /* relative to the package, or absolute */
    int line;
    char what[512];
} fer_fault;

enum { FER_MAX_FAULTS = 8, FER_VERIFY_THREADS = 4 };

/* What is known of a kernel so far. In memory that outlives the process that calls it. */
typedef struct fer_findings {
    size_t num_cases; /* begun */
    size_t num_refused;
    char refusal[256]; /* the first message of the kernel's own */
    fer_fault faults[FER_MAX_FAULTS];
    size_t num_faults;
    size_t current;     /* the case at hand */
    size_t num_reports; /* of the sanitizer in it, known ones too */
    size_t output_read; /* of what the kernel and the sanitizer printed */
    bool is_done;       /* all cases were run to their end */
    bool has_died;      /* of what the kernel did, which is `death`, but for the line */
    fer_fault death;
    uintptr_t address; /* of it, from the library's start; 0: nobody knows */
} fer_findings;

/* What goes on in the process that calls kernels: one case at a time. */
typedef struct fer_watch {
    fer_findings *findings;
    int output; /* the file that the kernel and the sanitizer print to */
    unsigned timeout;
    const fer_case *a_case;
    const fer_abi_entry *entry;
    const fer_held *held; /* NULL: no kernel runs */
} fer_watch;
extern fer_watch fer_watched;

/* From now on kernels are built for verification. */
void fer_verify_prepare(void);
/* From now on a signal is what `fer_watched` does, and ends the process. */
void fer_watch_signals(void);

/* Runs the cases from `first` on to `last` in this process, which is for that alone: it never
 * returns, and ends with exit code 0 unless a fault ended it. `output` is the file that standard
 * output and error become. */
_Noreturn void fer_verify_run(const fer_cases *cases, size_t first, size_t last, unsigned timeout,
                              int output, fer_findings *findings);

/* Adds one unless its kind was found on that line before. Where the file is NULL, the line is the
 * kernel's own. */
__attribute__((format(printf, 6, 7))) void fer_findings_add(fer_findings *findings,
                                                            const fer_case *a_case,
                                                            fer_fault_kind kind, const char *file,
                                                            int line, const char *format, ...);
/* Takes the sanitizer's reports from the output, as faults of that case. */
void fer_findings_read_output(fer_findings *findings, const fer_case *a_case, int output);

#endif
