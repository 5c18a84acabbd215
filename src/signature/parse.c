/* The declaration language: one function for each rule of its grammar, which docs/signatures.md
 * states. Names in dims are resolved on the way, for what is declared stands before them. */
#include "signature/parse.h"

#include "signature/literal.h"
#include "signature/signature.h"
#include "types/dtype.h"
#include "types/expression.h"
#include <string.h>

typedef struct parser {
    fer_lexer *lexer;
    fer_pool pool;
    fer_signature_spec spec; /* what is parsed so far, in the arrays below */
    fer_dtype_var dtype_vars[FER_MAX_GENERICS];
    fer_param params[FER_MAX_GENERICS];
    fer_operand operands[FER_MAX_OPERANDS];
    fer_operand results[FER_MAX_OPERANDS];
    fer_condition conditions[FER_MAX_CONDITIONS];
} parser;

typedef struct hint {
    const char *token;
    const char *text;
} hint;

/* What other languages have in a condition, or between two. */
static const hint OPERATOR_HINTS[] = {
    {"=", "'=' is no comparison; write '=='"},
    {"and", "conditions are listed with ',', not with 'and'"},
    {"or", "conditions are listed with ',' and must all hold; there is no 'or'"},
    {"|", "conditions are listed with ',' and must all hold; there is no '|'"},
    {NULL, NULL},
};

/* What other languages have in the place of a dim. */
static const hint DIM_HINTS[] = {
    {"?", "'?' is no dim of a declaration; a name that only results have is data-dependent"},
    {":", "':' is no dim; write '*s' for any number of dims, or a name for any one"},
    {".", "'...' is no dim; write '*s' for any number of dims"},
    {NULL, NULL},
};

static const char *find_hint(const fer_lexer *lexer, const hint *hints)
{
    for (; hints->token != NULL; hints++)
        if (fer_lexer_at(lexer, hints->token))
            return hints->text;
    return NULL;
}

static fer_status fail_here(const fer_lexer *lexer, const char *hint, fer_error *error)
{
    return fer_lexer_fail(lexer, &lexer->token, FER_VALUE_ERROR, error, "%s", hint);
}

static fer_status fail_operator(const fer_lexer *lexer, const char *expected, fer_error *error)
{
    const char *text = find_hint(lexer, OPERATOR_HINTS);
    if (text == NULL && lexer->token.kind == FER_TOKEN_BAD && *lexer->token.start == '&')
        text = "conditions are listed with ',', not with '&'";
    return text == NULL ? fer_lexer_unexpected(lexer, expected, error)
                        : fail_here(lexer, text, error);
}

static fer_lexer peek(const fer_lexer *lexer)
{
    fer_lexer ahead = *lexer;
    fer_lexer_advance(&ahead);
    return ahead;
}

/* Steps over a name, which the pool keeps. */
static fer_status take_name(parser *p, const char *what, const char **out_name, fer_error *error)
{
    const fer_token *token = &p->lexer->token;
    if (token->kind != FER_TOKEN_NAME)
        return fer_lexer_unexpected(p->lexer, what, error);
    *out_name = fer_pool_bytes(&p->pool, token->start, token->length);
    if (*out_name == NULL)
        return fer_fail_memory(error);
    fer_lexer_advance(p->lexer);
    return FER_OK;
}

static const char GENERIC_ADVICE[] =
    "a kind is int, float, bool, str or dtype, a class any_float, any_int, any_signed or "
    "any_unsigned";

/* The words beside dtypes that may stand behind a generic's name. */
static const char *near_generic(const fer_token *token)
{
    static const char *const WORDS[] = {"int",        "float",        "bool",
                                        "str",        "dtype",        "any_int",
                                        "any_signed", "any_unsigned", "any_float"};
    char word[32] = "";
    if (token->length < sizeof word)
        memcpy(word, token->start, token->length);
    return fer_near_name(word, WORDS, sizeof WORDS / sizeof *WORDS);
}

/* `advice` is for whoever wrote a name that is nothing like a dtype. */
static fer_status parse_dtype(parser *p, const char *advice, fer_dtype *out_dtype, fer_error *error)
{
    const fer_token token = p->lexer->token;
    if (token.kind != FER_TOKEN_NAME)
        return fer_lexer_unexpected(p->lexer, "a dtype", error);
    fer_status status = fer_dtype_parse(token.start, token.length, out_dtype, error);
    const char *near = status == FER_OK || advice != GENERIC_ADVICE ? NULL : near_generic(&token);
    if (near != NULL)
        return fer_lexer_fail(p->lexer, &token, status, error,
                              "unknown dtype, kind or class '%.*s'; did you mean '%s'?",
                              (int)token.length, token.start, near);
    if (status == FER_TYPE_ERROR && fer_dtype_near(token.start, token.length) == NULL)
        return fer_lexer_fail(p->lexer, &token, status, error, "%s; %s",
                              error == NULL ? "" : error->message, advice);
    if (status == FER_OK)
        fer_lexer_advance(p->lexer);
    return fer_lexer_locate(p->lexer, &token, status, error);
}

static bool find_kind(const fer_lexer *lexer, fer_param_kind *out_kind)
{
    for (int kind = FER_PARAM_INT; kind <= FER_PARAM_DTYPE; kind++) {
        if (fer_lexer_at(lexer, fer_param_kind_name((fer_param_kind)kind))) {
            *out_kind = (fer_param_kind)kind;
            return true;
        }
    }
    return false;
}

static fer_status parse_param(parser *p, const char *name, fer_param_kind kind, fer_error *error)
{
    fer_param *param = &p->params[p->spec.num_params];
    *param = (fer_param){.name = name, .kind = kind};
    fer_lexer_advance(p->lexer);
    if (fer_lexer_accept(p->lexer, "=")) {
        fer_param literal;
        fer_token token = p->lexer->token;
        FER_TRY(fer_literal_parse(p->lexer, &p->pool, &literal, error));
        fer_status status = fer_param_assign(NULL, param, &literal, error);
        FER_TRY(fer_lexer_locate(p->lexer, &token, status, error));
    }
    p->spec.num_params++;
    return FER_OK;
}

/* `f32|bf16`, or one dtype, which is refused with what was probably meant. */
static fer_status parse_union(parser *p, const char *name, uint32_t *out_allowed, fer_error *error)
{
    fer_token first = p->lexer->token;
    fer_dtype dtype;
    *out_allowed = 0;
    do {
        fer_token token = p->lexer->token;
        fer_param_kind kind;
        if (fer_constraint_class(token.start, token.length) != 0)
            return fail_here(p->lexer, "a class of dtypes stands alone, without '|'", error);
        if (find_kind(p->lexer, &kind) && kind != FER_PARAM_BOOL) /* bool is a dtype too */
            return fail_here(p->lexer, "a kind of parameter stands alone, without '|'", error);
        FER_TRY(parse_dtype(p, GENERIC_ADVICE, &dtype, error));
        if ((*out_allowed & FER_DTYPE_BIT(dtype)) != 0)
            return fer_lexer_fail(p->lexer, &token, FER_VALUE_ERROR, error,
                                  "the dtype '%s' stands twice", fer_dtype_name(dtype));
        *out_allowed |= FER_DTYPE_BIT(dtype);
    } while (fer_lexer_accept(p->lexer, "|"));
    if (*out_allowed != FER_DTYPE_BIT(dtype))
        return FER_OK;
    bool is_float = (*out_allowed & (FER_ANY_INT | FER_DTYPE_BIT(FER_BOOL))) == 0;
    return fer_lexer_fail(p->lexer, &first, FER_VALUE_ERROR, error,
                          "a constraint to one dtype; write '%s' in the place of '%s', or '%s: "
                          "%s' to declare a parameter",
                          fer_dtype_name(dtype), name, name, is_float ? "float" : "int");
}

static fer_status parse_constraint(parser *p, const char *name, uint32_t *out_allowed,
                                   fer_error *error)
{
    *out_allowed = fer_constraint_class(p->lexer->token.start, p->lexer->token.length);
    if (*out_allowed == 0)
        return parse_union(p, name, out_allowed, error);
    fer_lexer_advance(p->lexer);
    if (fer_lexer_at(p->lexer, "|"))
        return fail_here(p->lexer, "a class of dtypes stands alone, without '|'", error);
    return FER_OK;
}

static fer_status parse_generic(parser *p, fer_error *error)
{
    if (p->spec.num_dtype_vars + p->spec.num_params == FER_MAX_GENERICS)
        return fail_here(p->lexer, "more than 64 parameters and dtype variables", error);
    const char *name;
    FER_TRY(take_name(p, "the name of a parameter or dtype variable", &name, error));
    uint32_t allowed = 0;
    if (fer_lexer_accept(p->lexer, ":")) {
        fer_param_kind kind;
        fer_lexer ahead = peek(p->lexer);
        if (find_kind(p->lexer, &kind) && !fer_lexer_at(&ahead, "|"))
            return parse_param(p, name, kind, error);
        if (p->lexer->token.kind != FER_TOKEN_NAME)
            return fer_lexer_unexpected(p->lexer, "a kind, a class or dtypes after ':'", error);
        FER_TRY(parse_constraint(p, name, &allowed, error));
    }
    if (fer_lexer_at(p->lexer, "="))
        return fail_here(p->lexer,
                         "only a parameter has a value, and it has a kind: 'g: int = 4', 'to: "
                         "dtype = f32'",
                         error);
    p->dtype_vars[p->spec.num_dtype_vars++] = (fer_dtype_var){.name = name, .allowed = allowed};
    return FER_OK;
}

static fer_status parse_generics(parser *p, fer_error *error)
{
    if (!fer_lexer_accept(p->lexer, "<"))
        return FER_OK;
    do
        FER_TRY(parse_generic(p, error));
    while (fer_lexer_accept(p->lexer, ","));
    if (fer_lexer_accept(p->lexer, ">"))
        return FER_OK;
    if (p->lexer->token.kind == FER_TOKEN_NAME)
        return fail_here(p->lexer, "a parameter's kind stands behind its name: 'g: int'", error);
    return fer_lexer_unexpected(p->lexer, "',' or '>' after a parameter or dtype variable", error);
}

static fer_namespace resolve(void *context, const char *name)
{
    const fer_signature_spec *spec = context;
    return fer_spec_find_param(spec, name) != NULL ? FER_NAMESPACE_PARAMETER
                                                   : FER_NAMESPACE_SIGNATURE;
}

static fer_status parse_dim(fer_lexer *lexer, const fer_signature_spec *spec, fer_pool *pool,
                            const fer_dim **out_dim, fer_error *error)
{
    const char *hint_text = find_hint(lexer, DIM_HINTS);
    if (hint_text != NULL)
        return fail_here(lexer, hint_text, error);
    fer_dim *dim;
    FER_TRY(fer_expression_parse(lexer, resolve, (void *)spec, &dim, error));
    return fer_pool_take_dim(pool, dim, out_dim, error);
}

static fer_status parse_axis(parser *p, fer_axis *out_axis, fer_error *error)
{
    *out_axis = (fer_axis){0};
    if (fer_lexer_at(p->lexer, "**"))
        return fail_here(p->lexer, "a run of dims is '*s', with one '*'", error);
    if (fer_lexer_accept(p->lexer, "*"))
        return take_name(p, "the name of a run of dims after '*'", &out_axis->run, error);
    return parse_dim(p->lexer, &p->spec, &p->pool, &out_axis->dim, error);
}

static fer_status parse_axes(parser *p, fer_template *type, fer_error *error)
{
    fer_axis *axes = fer_pool_array(&p->pool, FER_MAX_AXES, sizeof *axes);
    if (axes == NULL)
        return fer_fail_memory(error);
    type->axes = axes;
    if (fer_lexer_accept(p->lexer, "]"))
        return FER_OK;
    do {
        if (type->num_axes == FER_MAX_AXES)
            return fail_here(p->lexer, "too many axes; the highest rank is 8", error);
        FER_TRY(parse_axis(p, &axes[type->num_axes], error));
        type->num_axes++;
    } while (fer_lexer_accept(p->lexer, ","));
    if (fer_lexer_accept(p->lexer, "]"))
        return FER_OK;
    if (p->lexer->token.kind == FER_TOKEN_NAME)
        return fail_here(p->lexer, "dims are parted by ',', and a product has '*' in it: '2 * n'",
                         error);
    return fer_lexer_unexpected(p->lexer, "',' or ']' after a dim", error);
}

static fer_status parse_template(parser *p, fer_template *out_type, fer_error *error)
{
    *out_type = (fer_template){0};
    const fer_token *token = &p->lexer->token;
    if (token->kind != FER_TOKEN_NAME)
        return fer_lexer_unexpected(p->lexer, "a type, such as f32[n]", error);
    const char *name = fer_pool_bytes(&p->pool, token->start, token->length);
    if (name == NULL)
        return fer_fail_memory(error);
    if (fer_spec_find_dtype_var(&p->spec, name) != NULL ||
        fer_spec_find_param(&p->spec, name) != NULL) {
        out_type->dtype_var = name;
        fer_lexer_advance(p->lexer);
    } else {
        FER_TRY(parse_dtype(p, "a dtype variable is declared before the operands, in '<' and '>'",
                            &out_type->dtype, error));
    }
    if (!fer_lexer_accept(p->lexer, "["))
        return fer_lexer_unexpected(
            p->lexer, "'[' and the dims ('[]' for a single number) after the dtype", error);
    return parse_axes(p, out_type, error);
}

/* The colon behind an operand's name. */
static fer_status expect_operand_type(parser *p, fer_error *error)
{
    fer_lexer ahead = peek(p->lexer);
    if (p->lexer->token.kind == FER_TOKEN_NAME && fer_lexer_at(&ahead, ":"))
        return fail_here(p->lexer, "only 'inout' stands before an operand's name", error);
    if (fer_lexer_at(p->lexer, ")") || fer_lexer_at(p->lexer, ","))
        return fail_here(p->lexer, "an operand has a type behind its name: 'x: f32[n]'", error);
    FER_TRY(fer_lexer_expect(p->lexer, ":", "after the operand's name", error));
    ahead = peek(p->lexer);
    if (fer_lexer_at(p->lexer, "inout") && ahead.token.kind == FER_TOKEN_NAME)
        return fail_here(p->lexer, "'inout' stands before the name: 'inout x: f32[n]'", error);
    return FER_OK;
}

static fer_status parse_operand(parser *p, fer_error *error)
{
    if (p->spec.num_operands == FER_MAX_OPERANDS)
        return fail_here(p->lexer, "more than 16 operands", error);
    fer_operand *operand = &p->operands[p->spec.num_operands];
    *operand = (fer_operand){0};
    fer_lexer ahead = peek(p->lexer);
    if (fer_lexer_at(p->lexer, "inout") && ahead.token.kind == FER_TOKEN_NAME) {
        operand->is_inout = true;
        fer_lexer_advance(p->lexer);
    }
    FER_TRY(take_name(p, "the name of an operand", &operand->name, error));
    if (fer_lexer_at(p->lexer, "["))
        return fail_here(p->lexer, "an operand has a name before its type: 'x: f32[n]'", error);
    FER_TRY(expect_operand_type(p, error));
    FER_TRY(parse_template(p, &operand->type, error));
    p->spec.num_operands++;
    return FER_OK;
}

static fer_status parse_operands(parser *p, fer_error *error)
{
    if (fer_lexer_at(p->lexer, "["))
        return fail_here(p->lexer, "dtype variables and parameters stand in '<' and '>'", error);
    if (p->lexer->token.kind == FER_TOKEN_NAME)
        return fail_here(p->lexer,
                         "a declaration begins with the op's name and '(': 'f(x: f32[n])'", error);
    FER_TRY(fer_lexer_expect(p->lexer, "(", "before the operands", error));
    if (fer_lexer_accept(p->lexer, ")"))
        return FER_OK;
    do
        FER_TRY(parse_operand(p, error));
    while (fer_lexer_accept(p->lexer, ","));
    if (!fer_lexer_accept(p->lexer, ")"))
        return fer_lexer_unexpected(p->lexer, "',' or ')' after an operand", error);
    return FER_OK;
}

static fer_status parse_result(parser *p, bool is_in_parentheses, fer_error *error)
{
    if (p->spec.num_results == FER_MAX_OPERANDS)
        return fail_here(p->lexer, "more than 16 results", error);
    fer_operand *result = &p->results[p->spec.num_results];
    *result = (fer_operand){0};
    fer_lexer ahead = peek(p->lexer);
    if (p->lexer->token.kind == FER_TOKEN_NAME && fer_lexer_at(&ahead, ":")) {
        if (!is_in_parentheses)
            return fail_here(p->lexer, "a named result stands in parentheses: '(y: f32[n])'",
                             error);
        FER_TRY(take_name(p, "the name of a result", &result->name, error));
        fer_lexer_advance(p->lexer);
    }
    if (fer_lexer_at(p->lexer, "inout") && ahead.token.kind == FER_TOKEN_NAME)
        return fail_here(p->lexer, "'inout' stands before an operand, not before a result", error);
    if (p->lexer->token.kind == FER_TOKEN_NAME && ahead.token.kind == FER_TOKEN_NAME)
        return fail_here(p->lexer, "a result's name has ':' behind it: '(y: f32[n])'", error);
    if (fer_lexer_at(p->lexer, "effect") && ahead.token.kind == FER_TOKEN_END)
        return fail_here(p->lexer, "an op without results has '()' for them: '-> () effect'",
                         error);
    FER_TRY(parse_template(p, &result->type, error));
    p->spec.num_results++;
    return FER_OK;
}

static fer_status parse_results(parser *p, fer_error *error)
{
    FER_TRY(fer_lexer_expect(p->lexer, "->", "and the results after the operands", error));
    if (!fer_lexer_accept(p->lexer, "(")) {
        FER_TRY(parse_result(p, false, error));
        if (fer_lexer_at(p->lexer, ","))
            return fail_here(p->lexer, "several results stand in parentheses: '(f32[n], f32[m])'",
                             error);
        return FER_OK;
    }
    if (fer_lexer_accept(p->lexer, ")"))
        return FER_OK;
    do
        FER_TRY(parse_result(p, true, error));
    while (fer_lexer_accept(p->lexer, ","));
    if (!fer_lexer_accept(p->lexer, ")"))
        return fer_lexer_unexpected(p->lexer, "',' or ')' after a result", error);
    return FER_OK;
}

/* The tokens from `start` on, up to `end`, as written but for blanks, line breaks and comments:
 * those become one blank. */
static fer_status take_text(const fer_lexer *lexer, const fer_token *start, const char *end,
                            fer_pool *pool, const char **out_text, fer_error *error)
{
    fer_text text = FER_TEXT_INIT;
    fer_lexer again;
    fer_lexer_start(&again, start->start, NULL, lexer->has_comments);
    const char *previous_end = again.token.start;
    while (again.token.kind != FER_TOKEN_END && again.token.start < end) {
        if (again.token.start > previous_end)
            fer_text_append_char(&text, ' ');
        fer_text_append_bytes(&text, again.token.start, again.token.length);
        previous_end = again.token.start + again.token.length;
        fer_lexer_advance(&again);
    }
    *out_text = text.has_failed ? NULL : fer_pool_string(pool, fer_text_string(&text));
    fer_text_free(&text);
    return *out_text == NULL ? fer_fail_memory(error) : FER_OK;
}

static bool find_comparison(const fer_lexer *lexer, fer_comparison *out_comparison)
{
    for (int comparison = FER_EQ; comparison <= FER_GE; comparison++) {
        if (fer_lexer_at(lexer, fer_comparison_text((fer_comparison)comparison))) {
            *out_comparison = (fer_comparison)comparison;
            return true;
        }
    }
    return false;
}

fer_status fer_condition_parse(fer_lexer *lexer, const fer_signature_spec *spec, fer_pool *pool,
                               fer_condition *out_condition, fer_error *error)
{
    *out_condition = (fer_condition){0};
    fer_token start = lexer->token;
    FER_TRY(parse_dim(lexer, spec, pool, &out_condition->left, error));
    if (!find_comparison(lexer, &out_condition->comparison))
        return fail_operator(lexer, "'==', '!=', '<', '<=', '>' or '>='", error);
    fer_lexer_advance(lexer);
    FER_TRY(parse_dim(lexer, spec, pool, &out_condition->right, error));
    fer_comparison again;
    if (find_comparison(lexer, &again))
        return fail_here(lexer, "comparisons do not chain; write 'a < b, b < c'", error);
    return take_text(lexer, &start, lexer->token.start, pool, &out_condition->text, error);
}

static const char AFTER_CONDITION[] = "',' or the end after a condition";

static fer_status parse_conditions(parser *p, fer_error *error)
{
    if (!fer_lexer_accept(p->lexer, "where"))
        return FER_OK;
    do {
        if (p->spec.num_conditions == FER_MAX_CONDITIONS)
            return fail_here(p->lexer, "more than 64 conditions", error);
        FER_TRY(fer_condition_parse(p->lexer, &p->spec, &p->pool,
                                    &p->conditions[p->spec.num_conditions], error));
        p->spec.num_conditions++;
    } while (fer_lexer_accept(p->lexer, ","));
    bool is_foreign =
        p->lexer->token.kind == FER_TOKEN_BAD || find_hint(p->lexer, OPERATOR_HINTS) != NULL;
    return is_foreign ? fail_operator(p->lexer, AFTER_CONDITION, error) : FER_OK;
}

static const char *what_may_follow(const fer_signature_spec *spec)
{
    if (spec->num_conditions > 0)
        return AFTER_CONDITION;
    return spec->has_effect ? "'where' or the end of the declaration"
                            : "'effect', 'where' or the end of the declaration";
}

static fer_status parse_head(parser *p, fer_error *error)
{
    FER_TRY(take_name(p, "the op's name", &p->spec.name, error));
    return parse_generics(p, error);
}

static fer_status parse_declaration(parser *p, bool is_whole, fer_error *error)
{
    FER_TRY(parse_head(p, error));
    FER_TRY(parse_operands(p, error));
    FER_TRY(parse_results(p, error));
    p->spec.has_effect = fer_lexer_accept(p->lexer, "effect");
    FER_TRY(parse_conditions(p, error));
    if (p->spec.num_conditions > 0 && fer_lexer_at(p->lexer, "effect"))
        return fail_here(p->lexer, "'effect' stands before 'where'", error);
    if (is_whole && p->lexer->token.kind != FER_TOKEN_END)
        return fer_lexer_unexpected(p->lexer, what_may_follow(&p->spec), error);
    return FER_OK;
}

/* What is parsed, and the values that are given for its parameters. */
typedef struct order {
    bool is_whole; /* the text ends with the declaration */
    const fer_param *params;
    size_t num_params;
} order;

static fer_status parse(fer_lexer *lexer, const order *order, fer_signature **out_signature,
                        fer_error *error)
{
    *out_signature = NULL;
    parser p = {.lexer = lexer};
    p.spec.dtype_vars = p.dtype_vars;
    p.spec.params = p.params;
    p.spec.operands = p.operands;
    p.spec.results = p.results;
    p.spec.conditions = p.conditions;
    fer_status status = parse_declaration(&p, order->is_whole, error);
    /* In a program the place comes first, as editors expect it. */
    if (status != FER_OK && p.spec.name != NULL && lexer->source_name == NULL)
        status = fer_fail_in_op(p.spec.name, status, error);
    if (status == FER_OK)
        status = fer_params_merge(&p.spec, order->params, order->num_params, p.params, error);
    if (status == FER_OK)
        status = fer_signature_create(&p.spec, out_signature, error);
    fer_pool_clear(&p.pool);
    return status;
}

fer_status fer_signature_parse_tokens(fer_lexer *lexer, fer_signature **out_signature,
                                      fer_error *error)
{
    return parse(lexer, &(order){.is_whole = false}, out_signature, error);
}

fer_status fer_signature_parse_given(const char *text, const fer_param *params, size_t num_params,
                                     fer_signature **out_signature, fer_error *error)
{
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    return parse(&lexer, &(order){.is_whole = true, .params = params, .num_params = num_params},
                 out_signature, error);
}

fer_status fer_signature_parse(const char *text, fer_signature **out_signature, fer_error *error)
{
    return fer_signature_parse_given(text, NULL, 0, out_signature, error);
}

fer_status fer_signature_parse_head(const char *text, fer_pool *pool, const char **out_name,
                                    fer_param *out_params, size_t *out_num_params, fer_error *error)
{
    fer_lexer lexer;
    fer_lexer_start(&lexer, text, NULL, false);
    parser p = {.lexer = &lexer, .pool = *pool};
    p.spec.dtype_vars = p.dtype_vars;
    p.spec.params = p.params;
    fer_status status = parse_head(&p, error);
    *pool = p.pool;
    *out_name = p.spec.name;
    *out_num_params = p.spec.num_params;
    memcpy(out_params, p.params, p.spec.num_params * sizeof *out_params);
    return status;
}
