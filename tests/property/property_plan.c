/* The call plan and the checker are two readings of one signature: on random signatures and
 * operands they accept the same calls and give the same result extents.
 *
 *   property_plan [CASES [SEED]]
 */
#include "base/text.h"
#include "op/plan.h"
#include "signature/unify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

static uint64_t random_below(uint64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % bound;
}

static const char *pick(const char *const *words, size_t count)
{
    return words[random_below(count)];
}

#define PICK(...)                                                                                  \
    pick((const char *const[]){__VA_ARGS__},                                                       \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* --- Random signatures ------------------------------------------------------------------------ */

static void append_dim(fer_text *text, int depth)
{
    if (depth == 0 || random_below(3) == 0) {
        fer_text_append(text, PICK("n", "m", "k", "n", "m", "1", "2", "3", "0"));
        return;
    }
    fer_text_append_char(text, '(');
    append_dim(text, depth - 1);
    fer_text_append(text, PICK(" + ", " - ", " * ", " // ", " % ", " // "));
    append_dim(text, depth - 1);
    fer_text_append_char(text, ')');
}

static void append_operand(fer_text *text, size_t index)
{
    size_t num_axes = random_below(4);
    size_t run = random_below(3) == 0 ? random_below(num_axes + 1) : SIZE_MAX;
    fer_text_printf(text, "%sx%zu: %s[", index == 0 ? "" : ", ", index,
                    PICK("f32", "i8", "T", "T"));
    for (size_t i = 0; i <= num_axes; i++) {
        if (i == run)
            fer_text_printf(text, "*s%s", i < num_axes ? ", " : "");
        if (i < num_axes)
            fer_text_printf(text, "%s%s", PICK("n", "m", "k", "n", "2", "1", "0"),
                            i + 1 < num_axes || run == num_axes ? ", " : "");
    }
    fer_text_append_char(text, ']');
}

static void append_result(fer_text *text)
{
    size_t num_axes = random_below(4);
    fer_text_printf(text, "%s[", PICK("f32", "f64", "T"));
    for (size_t i = 0; i < num_axes; i++) {
        fer_text_append(text, i == 0 ? "" : ", ");
        if (random_below(5) == 0)
            fer_text_append(text, "*s");
        else
            append_dim(text, (int)random_below(3));
    }
    fer_text_append_char(text, ']');
}

static void append_signature(fer_text *text)
{
    fer_text_append(text, "f<T>(");
    size_t num_operands = 1 + random_below(3);
    for (size_t i = 0; i < num_operands; i++)
        append_operand(text, i);
    fer_text_append(text, ") -> (");
    append_result(text);
    if (random_below(2) == 0) {
        fer_text_append(text, ", ");
        append_result(text);
    }
    fer_text_append_char(text, ')');
    if (random_below(3) != 0)
        return;
    fer_text_append(text, " where ");
    append_dim(text, 2);
    fer_text_append(text, PICK(" == ", " != ", " < ", " <= ", " > ", " >= "));
    append_dim(text, 2);
}

/* --- Random operands -------------------------------------------------------------------------- */

/* Mostly what the declaration asks for, so that calls get far, and sometimes anything. */
static fer_tensor *random_operand(const fer_template *type, const int64_t *values)
{
    int64_t extents[FER_MAX_RANK];
    size_t rank = 0;
    for (size_t i = 0; i < type->num_axes; i++) {
        if (type->axes[i].run != NULL) {
            size_t length = (size_t)values[3];
            for (size_t j = 0; j < length; j++)
                extents[rank++] = (int64_t)(j + 1);
            continue;
        }
        const char *name = fer_dim_symbol_name(type->axes[i].dim, NULL);
        int64_t extent = 0;
        if (name != NULL)
            extent = values[strcmp(name, "n") == 0 ? 0 : strcmp(name, "m") == 0 ? 1 : 2];
        else if (fer_dim_value(type->axes[i].dim, &extent, NULL) != FER_OK)
            abort();
        extents[rank++] = random_below(40) == 0 ? (int64_t)random_below(4) : extent;
    }
    if (random_below(60) == 0 && rank > 0)
        rank--;
    fer_dtype dtype = type->dtype_var != NULL ? FER_F64 : type->dtype;
    fer_tensor *tensor = NULL;
    if (fer_tensor_empty(dtype, rank, extents, (fer_device){0}, &tensor, NULL) != FER_OK)
        abort();
    return tensor;
}

/* --- Comparing -------------------------------------------------------------------------------- */

typedef struct tally {
    size_t accepted;
    size_t given; /* of them, those whose results could be given the short way */
    size_t refused;
    size_t not_signatures;
} tally;

static bool same_results(const fer_plan *plan, const fer_bound *bound,
                         const fer_unification *unification)
{
    for (size_t i = 0; i < plan->num_results; i++) {
        const fer_type *type = unification->results[i];
        if (fer_type_rank(type) != bound->results[i].rank ||
            fer_type_dtype(type) != plan->results[i].dtype)
            return false;
        for (size_t axis = 0; axis < fer_type_rank(type); axis++) {
            int64_t extent;
            if (fer_dim_value(fer_type_dim(type, axis), &extent, NULL) != FER_OK ||
                extent != bound->results[i].extents[axis])
                return false;
        }
    }
    return true;
}

/* The way for given results takes just those that the other way makes. */
static bool takes_given(const fer_plan *plan, const fer_bound *bound, const fer_dl_tensor **tensors)
{
    fer_tensor *results[FER_MAX_OPERANDS];
    bool is_right = true;
    for (size_t i = 0; i < plan->num_results; i++) {
        if (fer_tensor_empty((fer_dtype)plan->results[i].dtype, bound->results[i].rank,
                             bound->results[i].extents, (fer_device){0}, &results[i],
                             NULL) != FER_OK)
            abort();
        tensors[i] = &results[i]->dl;
    }
    is_right &= fer_given_hold(plan, tensors);
    for (size_t i = 0; i < plan->num_results; i++) {
        fer_tensor *result = results[i];
        for (size_t axis = 0; axis < result->rank; axis++) {
            result->extents[axis]++;
            is_right &= !fer_given_hold(plan, tensors);
            result->extents[axis]--;
        }
        /* Where there is no run, the rank was compared before. */
        if (plan->results[i].is_plain && !plan->results[i].is_simple) {
            if (result->rank < FER_MAX_RANK) {
                result->rank++;
                is_right &= !fer_given_hold(plan, tensors);
                result->rank--;
            }
            if (result->rank > 0) {
                result->rank--;
                is_right &= !fer_given_hold(plan, tensors);
                result->rank++;
            }
        }
    }
    for (size_t i = 0; i < plan->num_results; i++)
        fer_tensor_release(results[i]);
    return is_right;
}

static bool agree(const fer_signature *signature, tally *counts)
{
    const fer_signature_spec *spec = fer_signature_folded(signature);
    int64_t values[4] = {(int64_t)random_below(5), (int64_t)random_below(5),
                         (int64_t)random_below(5), (int64_t)random_below(3)};
    fer_tensor *operands[FER_MAX_OPERANDS];
    fer_type *types[FER_MAX_OPERANDS];
    fer_plan plan;
    fer_bound bound;
    fer_unification unification = {0};
    if (fer_plan_create(signature, (fer_dtype[]){FER_F64}, &plan, NULL) != FER_OK)
        abort();
    for (size_t i = 0; i < spec->num_operands; i++) {
        operands[i] = random_operand(&spec->operands[i].type, values);
        if (fer_tensor_type(operands[i], &types[i], NULL) != FER_OK)
            abort();
    }
    const fer_dl_tensor *tensors[FER_MAX_OPERANDS];
    bool is_bound = fer_plan_takes(&plan, operands, tensors) &&
                    fer_plan_bind(&plan, tensors, &bound) &&
                    fer_plan_results(&plan, tensors, NULL, &bound);
    bool is_unified = fer_unify(signature, (const fer_type *const *)types, spec->num_operands,
                                &unification, NULL) == FER_OK;
    bool do_agree =
        is_bound == is_unified && (!is_bound || same_results(&plan, &bound, &unification));
    if (is_bound && plan.is_plain) {
        do_agree &= takes_given(&plan, &bound, tensors);
        counts->given++;
    }
    counts->accepted += is_bound;
    counts->refused += !is_bound;
    if (!do_agree) {
        printf("%s\n  plan %s, checker %s:", fer_signature_text(signature),
               is_bound ? "accepts" : "refuses", is_unified ? "accepts" : "refuses");
        for (size_t i = 0; i < spec->num_operands; i++)
            printf(" %s", fer_type_text(types[i]));
        printf("\n");
    }
    fer_unification_clear(&unification);
    for (size_t i = 0; i < spec->num_operands; i++) {
        fer_tensor_release(operands[i]);
        fer_type_release(types[i]);
    }
    fer_plan_clear(&plan);
    return do_agree;
}

static bool check_one(tally *counts)
{
    fer_text text = FER_TEXT_INIT;
    fer_signature *signature = NULL;
    append_signature(&text);
    fer_status status = fer_signature_parse(fer_text_string(&text), &signature, NULL);
    fer_text_free(&text);
    if (status != FER_OK || fer_signature_num_open(signature) > 0) {
        counts->not_signatures++;
        fer_signature_release(signature);
        return true;
    }
    bool do_agree = true;
    for (int i = 0; i < 4 && do_agree; i++)
        do_agree = agree(signature, counts);
    fer_signature_release(signature);
    return do_agree;
}

int main(int argc, char **argv)
{
    size_t num_cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 88172645463325252;
    tally counts = {0};
    bool do_agree = true;
    for (size_t i = 0; i < num_cases && do_agree; i++)
        do_agree = check_one(&counts);
    printf("%zu signatures, %zu of them refused as such; %zu calls accepted (%zu of them "
           "plain), %zu refused\n",
           num_cases, counts.not_signatures, counts.accepted, counts.given, counts.refused);
    if (counts.accepted < num_cases / 20 || counts.refused < num_cases / 20 ||
        counts.given < num_cases / 50) {
        printf("too few of one kind to mean anything\n");
        do_agree = false;
    }
    return do_agree ? 0 : 1;
}
