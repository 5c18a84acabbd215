/* Random dims against the arithmetic they stand for: property_dim [EXPRESSIONS [SEED]].
 *
 * Each expression is a tree over three symbols and constants of both signs. Its canonical form must
 * have the tree's value at every point where the tree is defined; parsing its text must give an
 * equal dim with the same text, which is the same as building the form from itself. Prints what was
 * compared and what was skipped; exits 1 at the first disagreement, with the expression. */
#include <ferrule/dim.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

#define MAX_DEPTH 6
#define NUM_SYMBOLS 3
#define NUM_POINTS 8

static const char *const NAMES[NUM_SYMBOLS] = {"n", "w", "channels"};

typedef struct node {
    char kind; /* one of + - * / % for binary nodes ('/' floors), '~' negates, 's', 'c' */
    int64_t value;
    struct node *left;
    struct node *right;
} node;

typedef struct counts {
    uint64_t points;
    uint64_t undefined;
    uint64_t overflowing;
    uint64_t beyond_128;
    uint64_t refused;
} counts;

/* xorshift64*, Marsaglia 2003 and Vigna 2016: the same expressions on every machine. */
static uint64_t random_state;

static uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1dULL;
}

static int64_t random_below(int64_t limit)
{
    return (int64_t)((random_bits() >> 16) % (uint64_t)limit);
}

static node pool[1 << (MAX_DEPTH + 1)];
static size_t pool_used;

static int64_t random_constant(void)
{
    static const int64_t HUGE_ONES[] = {INT64_MIN,        INT64_MIN + 1,    -(INT64_C(1) << 40),
                                        INT64_C(1) << 31, INT64_C(1) << 62, INT64_MAX};
    switch (random_below(16)) {
    case 0:
    case 1:
        return random_below(2000) - 1000;
    case 2:
    case 3:
        return 1 << random_below(12);
    case 4:
        return random_below(8) == 0 ? HUGE_ONES[random_below(6)] : 0;
    default:
        return random_below(10) + 1 - 11 * random_below(2);
    }
}

static node *random_tree(int depth)
{
    static const char KINDS[] = "++--***////%%~";
    node *tree = &pool[pool_used++];
    if (depth == 0 || random_below(6) == 0) {
        bool is_symbol = random_below(2) == 0;
        *tree = (node){.kind = is_symbol ? 's' : 'c',
                       .value = is_symbol ? random_below(NUM_SYMBOLS) : random_constant()};
        return tree;
    }
    *tree = (node){.kind = KINDS[random_below(sizeof KINDS - 1)]};
    tree->left = random_tree(depth - 1);
    if (tree->kind != '~')
        tree->right = random_tree(depth - 1);
    return tree;
}

static void write_tree(FILE *file, const node *tree)
{
    if (tree->kind == 's') {
        fputs(NAMES[tree->value], file);
    } else if (tree->kind == 'c') {
        fprintf(file, "%" PRId64, tree->value);
    } else if (tree->kind == '~') {
        fputs("-(", file);
        write_tree(file, tree->left);
        fputs(")", file);
    } else {
        fputs("(", file);
        write_tree(file, tree->left);
        fprintf(file, tree->kind == '/' ? " // " : " %c ", tree->kind);
        write_tree(file, tree->right);
        fputs(")", file);
    }
}

/* The caller frees the text. */
static char *tree_text(const node *tree)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        abort();
    write_tree(file, tree);
    fclose(file);
    return text;
}

typedef enum outcome { DEFINED, UNDEFINED, OVERFLOWS } outcome;

static wide floor_divide(wide a, wide b)
{
    wide quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* The value by the definition of each operator, with no form in between. */
static outcome evaluate_tree(const node *tree, const int64_t *values, wide *out_value)
{
    if (tree->kind == 's' || tree->kind == 'c') {
        *out_value = tree->kind == 's' ? values[tree->value] : tree->value;
        return DEFINED;
    }
    wide a, b = 0;
    outcome left = evaluate_tree(tree->left, values, &a);
    outcome right = tree->right == NULL ? DEFINED : evaluate_tree(tree->right, values, &b);
    if (left == UNDEFINED || right == UNDEFINED)
        return UNDEFINED;
    if (left == OVERFLOWS || right == OVERFLOWS)
        return OVERFLOWS;
    bool overflows = false;
    switch (tree->kind) {
    case '+':
        overflows = __builtin_add_overflow(a, b, out_value);
        break;
    case '-':
        overflows = __builtin_sub_overflow(a, b, out_value);
        break;
    case '~':
        overflows = __builtin_sub_overflow((wide)0, a, out_value);
        break;
    case '*':
        overflows = __builtin_mul_overflow(a, b, out_value);
        break;
    default:
        if (b == 0)
            return UNDEFINED;
        if (b == -1) /* the one quotient that can leave 128 bits */
            overflows = __builtin_sub_overflow((wide)0, a, out_value);
        else
            *out_value = floor_divide(a, b);
        if (tree->kind == '%' && !overflows)
            *out_value = a - b * *out_value;
        break;
    }
    return overflows ? OVERFLOWS : DEFINED;
}

/* Builds the dim by calls; the other way is its text. */
static fer_status build(const node *tree, fer_dim **out_dim, fer_error *error)
{
    *out_dim = NULL;
    if (tree->kind == 'c')
        return fer_dim_constant(tree->value, out_dim, error);
    if (tree->kind == 's')
        return fer_dim_symbol(FER_NAMESPACE_CALLER, NAMES[tree->value], out_dim, error);
    fer_dim *a = NULL, *b = NULL;
    fer_status status = build(tree->left, &a, error);
    if (status == FER_OK && tree->right != NULL)
        status = build(tree->right, &b, error);
    if (status == FER_OK)
        status = tree->kind == '+'   ? fer_dim_add(a, b, out_dim, error)
                 : tree->kind == '-' ? fer_dim_subtract(a, b, out_dim, error)
                 : tree->kind == '*' ? fer_dim_multiply(a, b, out_dim, error)
                 : tree->kind == '/' ? fer_dim_floor_divide(a, b, out_dim, error)
                 : tree->kind == '%' ? fer_dim_modulo(a, b, out_dim, error)
                                     : fer_dim_negate(a, out_dim, error);
    fer_dim_release(a);
    fer_dim_release(b);
    return status;
}

static int64_t random_value(void)
{
    switch (random_below(16)) {
    case 0:
        return 0;
    case 1:
        return random_below(2) == 0 ? 1 : -1;
    case 2:
    case 3:
        return random_below(2000001) - 1000000;
    default:
        return random_below(81) - 40;
    }
}

static bool disagree(const char *text, const fer_dim *dim, const char *what)
{
    printf("FAILED: %s\n  expression: %s\n  form:       %s\n", what, text,
           dim == NULL ? "(none)" : fer_dim_text(dim));
    return false;
}

/* `dim` NULL: it was refused for dividing by zero, so it is defined at no point. */
static bool check_point(const node *tree, const char *text, const fer_dim *dim, counts *counts)
{
    int64_t values[NUM_SYMBOLS];
    fer_assignment assignments[NUM_SYMBOLS];
    for (size_t i = 0; i < NUM_SYMBOLS; i++) {
        values[i] = random_value();
        assignments[i] = (fer_assignment){FER_NAMESPACE_CALLER, NAMES[i], values[i]};
    }
    wide expected;
    outcome outcome = evaluate_tree(tree, values, &expected);
    if (outcome != DEFINED) {
        counts->undefined += outcome == UNDEFINED;
        counts->overflowing += outcome == OVERFLOWS;
        return true;
    }
    if (dim == NULL)
        return disagree(text, dim, "refused as a division by zero, but it has a value");
    int64_t value;
    fer_error error = FER_ERROR_INIT;
    fer_status status = fer_dim_evaluate(dim, assignments, NUM_SYMBOLS, &value, &error);
    fer_error_clear(&error);
    if (status == FER_OVERFLOW_ERROR) {
        bool fits = expected >= INT64_MIN && expected <= INT64_MAX;
        counts->overflowing += !fits;
        counts->beyond_128 += fits;
        return true;
    }
    counts->points++;
    if (status == FER_OK && value == expected)
        return true;
    printf("at n=%" PRId64 " w=%" PRId64 " channels=%" PRId64 ": expected %" PRId64
           ", got %s %" PRId64 "\n",
           values[0], values[1], values[2], (int64_t)expected, fer_status_name(status), value);
    return disagree(text, dim, "another value");
}

static bool check_text(const char *text, const fer_dim *dim)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *again;
    if (fer_dim_parse(fer_dim_text(dim), &again, &error) != FER_OK) {
        puts(error.message);
        fer_error_clear(&error);
        return disagree(text, dim, "the form's text does not parse");
    }
    bool is_equal = fer_dim_equal(dim, again) && fer_dim_hash(dim) == fer_dim_hash(again) &&
                    strcmp(fer_dim_text(dim), fer_dim_text(again)) == 0;
    if (!is_equal)
        printf("parsed again: %s\n", fer_dim_text(again));
    fer_dim_release(again);
    return is_equal || disagree(text, dim, "the form's text parses to another form");
}

static bool check_expression(const node *tree, const char *text, counts *counts)
{
    fer_error error = FER_ERROR_INIT;
    fer_dim *dim, *parsed;
    fer_status status = build(tree, &dim, &error);
    fer_error_clear(&error);
    fer_status parse_status = fer_dim_parse(text, &parsed, &error);
    fer_error_clear(&error);
    bool is_good = true;
    if (status != parse_status || (status == FER_OK && !fer_dim_equal(dim, parsed)))
        is_good = disagree(text, dim, "calls and text do not make the same dim");
    else if (status == FER_OVERFLOW_ERROR)
        counts->refused++;
    else if (status == FER_OK)
        is_good = check_text(text, dim);
    else if (status != FER_ZERO_DIVISION_ERROR)
        is_good = disagree(text, dim, fer_status_name(status));
    for (int i = 0; i < NUM_POINTS && is_good && status != FER_OVERFLOW_ERROR; i++)
        is_good = check_point(tree, text, dim, counts);
    fer_dim_release(dim);
    fer_dim_release(parsed);
    return is_good;
}

int main(int argc, char **argv)
{
    uint64_t num_expressions = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (num_expressions == 0 || random_state == 0) {
        fputs("usage: property_dim [EXPRESSIONS [SEED]], neither of them 0\n", stderr);
        return 2;
    }
    counts counts = {0};
    for (uint64_t i = 0; i < num_expressions; i++) {
        pool_used = 0;
        node *tree = random_tree(MAX_DEPTH);
        char *text = tree_text(tree);
        bool is_good = check_expression(tree, text, &counts);
        free(text);
        if (!is_good)
            return 1;
    }
    uint64_t skipped = counts.undefined + counts.overflowing + counts.beyond_128;
    printf("%" PRIu64 " expressions, %" PRIu64 " points compared, %" PRIu64 " skipped (%" PRIu64
           " undefined, %" PRIu64 " outside int64, %" PRIu64
           " whose form leaves 128 bits on the way); %" PRIu64
           " expressions refused as too large\n",
           num_expressions, counts.points, skipped, counts.undefined, counts.overflowing,
           counts.beyond_128, counts.refused);
    return 0;
}
