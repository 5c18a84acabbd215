/* Sizes for a declaration: none, one, odd, even, round the lengths of vectors and blocks, large;
 * and where a condition forbids them, others that are found by trying. */
#include "cli/verify.h"

#include "signature/signature.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SHAPES = 128, MAX_VARIABLES = 64, MAX_TRIES = 4000 };
enum { LARGE_ODD = 70001, LARGE_EVEN = 65536, MAX_ELEMENTS = 1 << 19, MAX_WORK = 1 << 18 };

/* What a call's sizes depend on: the symbols, and the dims of each run. */
typedef struct sizes {
    const fer_signature *signature;
    const fer_signature_spec *spec;
    fer_assignment symbols[MAX_VARIABLES];
    size_t num_symbols;
    const char *runs[FER_MAX_OPERANDS];
    size_t num_runs;
    size_t run_rank;
    int64_t run_dims[MAX_VARIABLES]; /* [num_runs][run_rank] */
    int64_t least;                   /* that a size may be */
    uint64_t random;
} sizes;

static size_t num_variables(const sizes *s)
{
    return s->num_symbols + s->num_runs * s->run_rank;
}

static int64_t *variable(sizes *s, size_t index)
{
    return index < s->num_symbols ? &s->symbols[index].value : &s->run_dims[index - s->num_symbols];
}

static size_t find_run(const sizes *s, const char *name)
{
    size_t i = 0;
    while (i < s->num_runs && strcmp(s->runs[i], name) != 0)
        i++;
    return i;
}

static size_t find_symbol(const sizes *s, const char *name)
{
    size_t i = 0;
    while (i < s->num_symbols && strcmp(s->symbols[i].name, name) != 0)
        i++;
    return i;
}

static void find_names(sizes *s)
{
    for (size_t i = 0; i < s->spec->num_operands; i++) {
        const fer_template *type = &s->spec->operands[i].type;
        for (size_t j = 0; j < type->num_axes; j++) {
            const char *run = type->axes[j].run;
            fer_namespace space = FER_NAMESPACE_SIGNATURE;
            const char *symbol =
                run != NULL ? NULL : fer_dim_symbol_name(type->axes[j].dim, &space);
            if (run != NULL && find_run(s, run) == s->num_runs)
                s->runs[s->num_runs++] = run;
            if (symbol != NULL && s->num_symbols < MAX_VARIABLES &&
                find_symbol(s, symbol) == s->num_symbols)
                s->symbols[s->num_symbols++] = (fer_assignment){.space = space, .name = symbol};
        }
    }
}

/* False: the rank is too high. */
static bool make_shape(const sizes *s, size_t operand, fer_case_shape *out_shape)
{
    const fer_template *type = &s->spec->operands[operand].type;
    size_t rank = 0;
    for (size_t i = 0; i < type->num_axes; i++) {
        const char *run = type->axes[i].run;
        size_t num_dims = run == NULL ? 1 : s->run_rank;
        if (rank + num_dims > FER_MAX_RANK)
            return false;
        for (size_t j = 0; j < num_dims; j++) {
            int64_t extent = 0;
            if (run != NULL)
                extent = s->run_dims[find_run(s, run) * s->run_rank + j];
            else if (fer_dim_evaluate(type->axes[i].dim, s->symbols, s->num_symbols, &extent,
                                      NULL) != FER_OK)
                return false;
            out_shape->extents[rank++] = extent;
        }
    }
    out_shape->rank = rank;
    return true;
}

static bool holds(const sizes *s, const fer_condition *condition)
{
    int64_t left = 0;
    int64_t right = 0;
    return fer_dim_evaluate(condition->left, s->symbols, s->num_symbols, &left, NULL) == FER_OK &&
           fer_dim_evaluate(condition->right, s->symbols, s->num_symbols, &right, NULL) == FER_OK &&
           fer_comparison_holds(condition->comparison, left, right);
}

static bool is_few(size_t rank, const int64_t *extents)
{
    int64_t count = 1;
    for (size_t i = 0; i < rank; i++)
        if (extents[i] == 0)
            return true;
    for (size_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(count, extents[i], &count) || count > MAX_ELEMENTS)
            return false;
    return true;
}

/* Results that the checker finds no fault with, and that are not too many elements. */
static bool has_good_results(const sizes *s, const fer_case_shape *shapes, const fer_dtype *dtypes)
{
    const fer_signature_spec *spec = s->spec;
    fer_type *operands[FER_MAX_OPERANDS] = {NULL};
    fer_type *results[FER_MAX_OPERANDS] = {NULL};
    bool is_good = true;
    for (size_t i = 0; i < spec->num_operands && is_good; i++) {
        fer_dim *dims[FER_MAX_RANK] = {NULL};
        for (size_t j = 0; j < shapes[i].rank; j++)
            is_good &= fer_dim_constant(shapes[i].extents[j], &dims[j], NULL) == FER_OK;
        is_good = is_good && fer_type_create(dtypes[i], shapes[i].rank, (const fer_dim **)dims,
                                             (fer_device){0}, &operands[i], NULL) == FER_OK;
        for (size_t j = 0; j < shapes[i].rank; j++)
            fer_dim_release(dims[j]);
    }
    is_good = is_good &&
              fer_signature_infer(s->signature, (const fer_type *const *)operands,
                                  spec->num_operands, results, spec->num_results, NULL) == FER_OK;
    for (size_t i = 0; i < spec->num_results && is_good; i++) {
        int64_t extents[FER_MAX_RANK] = {0};
        size_t rank = fer_type_rank(results[i]);
        for (size_t j = 0; j < rank; j++) {
            const fer_dim *dim = fer_type_dim(results[i], j);
            extents[j] = 1;
            if (dim != NULL)
                is_good &= fer_dim_value(dim, &extents[j], NULL) == FER_OK;
        }
        is_good = is_good && is_few(rank, extents);
    }
    for (size_t i = 0; i < FER_MAX_OPERANDS; i++) {
        fer_type_release(operands[i]);
        fer_type_release(results[i]);
    }
    return is_good;
}

/* No loop over all the sizes takes long. */
static bool is_little_work(sizes *s)
{
    int64_t work = 1;
    for (size_t i = 0; i < num_variables(s); i++) {
        const int64_t size = *variable(s, i);
        if (size < s->least ||
            (size > 0 && (__builtin_mul_overflow(work, size, &work) || work > MAX_WORK)))
            return false;
    }
    return true;
}

static bool makes_shapes(sizes *s, const fer_dtype *dtypes, fer_case_shape *shapes)
{
    if (!is_little_work(s))
        return false;
    for (size_t i = 0; i < s->spec->num_conditions; i++)
        if (!holds(s, &s->spec->conditions[i]))
            return false;
    for (size_t i = 0; i < s->spec->num_operands; i++)
        if (!make_shape(s, i, &shapes[i]) || !is_few(shapes[i].rank, shapes[i].extents))
            return false;
    return has_good_results(s, shapes, dtypes);
}

/* Sizes that may fit to those that are there: conditions mostly compare, halve and multiply. */
static int64_t guess(sizes *s)
{
    int64_t other = *variable(s, fer_random_below(&s->random, num_variables(s)));
    switch (fer_random_below(&s->random, 6)) {
    case 0:
        return (int64_t)fer_random_below(&s->random, 65);
    case 1:
        return other >> fer_random_below(&s->random, 9);
    case 2:
        return other << fer_random_below(&s->random, 6);
    case 3:
        return other;
    default:
        return (int64_t)fer_random_below(&s->random, 18);
    }
}

/* Shapes for the sizes at hand, or, where those are not allowed, for others that are found by
 * trying; the size `kept` stays (MAX_VARIABLES: none). */
static bool search(sizes *s, size_t kept, const fer_dtype *dtypes, fer_case_shape *shapes)
{
    for (int i = 0; i < MAX_TRIES; i++) {
        if (makes_shapes(s, dtypes, shapes))
            return true;
        if (num_variables(s) == 0)
            return false;
        for (size_t j = 0; j < num_variables(s); j++)
            if (j != kept && fer_random_below(&s->random, 2) == 0)
                *variable(s, j) = guess(s);
    }
    return false;
}

static bool is_new(const fer_case_op *made, size_t num_operands, const fer_case_shape *shapes)
{
    for (size_t i = 0; i < made->num_shapes; i++)
        if (memcmp(&made->shapes[i * num_operands], shapes, num_operands * sizeof *shapes) == 0)
            return false;
    return true;
}

/* Sets all sizes, `kept` to `value` and the others by their places, and adds what is found. */
static bool add_shapes(sizes *s, fer_case_op *made, const fer_dtype *dtypes, size_t kept,
                       int64_t value, const int64_t others[4])
{
    fer_case_shape shapes[FER_MAX_OPERANDS];
    memset(shapes, 0, sizeof shapes);
    for (size_t i = 0; i < num_variables(s); i++)
        *variable(s, i) = i == kept ? value : others[i % 4] + (int64_t)(i / 4);
    if (!search(s, kept, dtypes, shapes))
        return false;
    size_t num_operands = s->spec->num_operands;
    if (made->num_shapes < MAX_SHAPES && is_new(made, num_operands, shapes)) {
        memcpy(&made->shapes[made->num_shapes * num_operands], shapes,
               num_operands * sizeof *shapes);
        made->num_shapes++;
    }
    return true;
}

static const int64_t ZEROS[] = {0, 0, 0, 0};
static const int64_t ONES[] = {1, 1, 1, 1};
static const int64_t ODD[] = {5, 3, 7, 9};
static const int64_t EVEN[] = {4, 8, 2, 6};
static const int64_t FEW[] = {3, 2, 1, 2};

static void add_shapes_of_rank(sizes *s, fer_case_op *made, const fer_dtype *dtypes)
{
    enum { NONE = MAX_VARIABLES };
    static const int64_t EDGES[] = {2, 3, 8, 15, 16, 17, 33, 64, 65};
    add_shapes(s, made, dtypes, NONE, 0, ONES);
    add_shapes(s, made, dtypes, NONE, 0, ODD);
    add_shapes(s, made, dtypes, NONE, 0, EVEN);
    add_shapes(s, made, dtypes, NONE, 0, ZEROS);
    for (size_t i = 0; i < num_variables(s); i++) {
        add_shapes(s, made, dtypes, i, 0, ODD);
        add_shapes(s, made, dtypes, i, 1, EVEN);
        if (s->num_runs > 0 && s->run_rank != 1)
            continue;
        for (size_t j = 0; j < sizeof EDGES / sizeof *EDGES; j++)
            add_shapes(s, made, dtypes, i, EDGES[j], j % 2 == 0 ? ODD : FEW);
        s->least = 1;
        if (!add_shapes(s, made, dtypes, i, LARGE_ODD, FEW))
            add_shapes(s, made, dtypes, i, LARGE_EVEN, FEW);
        s->least = 0;
    }
}

fer_status fer_case_shapes_make(fer_case_op *made, const fer_dtype *dtypes, fer_error *error)
{
    sizes s = {.signature = fer_op_signature(made->op)};
    s.spec = fer_signature_folded(s.signature);
    made->shapes = calloc(MAX_SHAPES * s.spec->num_operands, sizeof *made->shapes);
    if (made->shapes == NULL)
        return fer_fail_memory(error);
    find_names(&s);
    static const size_t RANKS[] = {1, 2, 0, 3};
    for (size_t i = 0; i < (s.num_runs > 0 ? 4 : 1); i++) {
        s.run_rank = RANKS[i];
        if (num_variables(&s) <= MAX_VARIABLES)
            add_shapes_of_rank(&s, made, dtypes);
    }
    return FER_OK;
}
