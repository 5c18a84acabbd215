#include "signature/signature.h"

static const char *const COMPARISONS[] = {
    [FER_EQ] = "==", [FER_NE] = "!=", [FER_LT] = "<",
    [FER_LE] = "<=", [FER_GT] = ">",  [FER_GE] = ">=",
};

const char *fer_comparison_text(fer_comparison comparison)
{
    size_t index = (size_t)comparison;
    return index < sizeof COMPARISONS / sizeof *COMPARISONS ? COMPARISONS[index] : NULL;
}

void fer_condition_append(fer_text *text, const fer_condition *condition)
{
    if (condition->text != NULL)
        fer_text_append(text, condition->text);
    else
        fer_text_printf(text, "%s %s %s", fer_dim_text(condition->left),
                        fer_comparison_text(condition->comparison), fer_dim_text(condition->right));
}

bool fer_comparison_holds(fer_comparison comparison, int64_t left, int64_t right)
{
    switch (comparison) {
    case FER_EQ:
        return left == right;
    case FER_NE:
        return left != right;
    case FER_LT:
        return left < right;
    case FER_LE:
        return left <= right;
    case FER_GT:
        return left > right;
    case FER_GE:
        return left >= right;
    }
    return false;
}

fer_status fer_comparison_decide(fer_comparison comparison, const fer_dim *left,
                                 const fer_dim *right, fer_decision *out_decision, fer_error *error)
{
    *out_decision = FER_UNDECIDED;
    int64_t values[2] = {0, 0};
    if (fer_dim_is_static(left) && fer_dim_is_static(right)) {
        FER_TRY(fer_dim_value(left, &values[0], error));
        FER_TRY(fer_dim_value(right, &values[1], error));
        *out_decision =
            fer_comparison_holds(comparison, values[0], values[1]) ? FER_HOLDS : FER_IS_FALSE;
        return FER_OK;
    }
    /* `n + 1 > n` is decided by the difference. One that leaves int64 decides nothing: the sides
     * themselves may be small where the call is. */
    fer_dim *difference = NULL;
    fer_status status = fer_dim_subtract(left, right, &difference, NULL);
    if (status == FER_MEMORY_ERROR)
        return fer_fail_memory(error);
    if (status != FER_OK)
        return FER_OK;
    if (fer_dim_is_static(difference)) {
        status = fer_dim_value(difference, &values[0], error);
        *out_decision = fer_comparison_holds(comparison, values[0], 0) ? FER_HOLDS : FER_IS_FALSE;
    }
    fer_dim_release(difference);
    return status;
}
