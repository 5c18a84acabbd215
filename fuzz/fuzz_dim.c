/* Any text as a dim: it parses or is refused, and what parses returns from its own text, from a
 * replacement that replaces nothing, and with the same value. */
#include <ferrule/dim.h>

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_same(const fer_dim *dim, const fer_dim *again)
{
    require(fer_dim_equal(dim, again));
    require(fer_dim_hash(dim) == fer_dim_hash(again));
    require(strcmp(fer_dim_text(dim), fer_dim_text(again)) == 0);
    require(fer_dim_num_symbols(dim) == fer_dim_num_symbols(again));
}

static void check_text(const fer_dim *dim)
{
    fer_dim *again;
    require(fer_dim_parse(fer_dim_text(dim), &again, NULL) == FER_OK);
    check_same(dim, again);
    fer_dim_release(again);
}

/* Replacing can need more than 256 terms on the way. */
static void check_substitution(const fer_dim *dim)
{
    fer_dim *again;
    fer_error error = FER_ERROR_INIT;
    if (fer_dim_substitute(dim, NULL, 0, &again, &error) == FER_OK)
        check_same(dim, again);
    else
        require(error.kind == FER_OVERFLOW_ERROR);
    fer_dim_release(again);
    fer_error_clear(&error);
}

/* Putting constants in place of all symbols is evaluating. */
static void check_value(const fer_dim *dim)
{
    enum { MAX_SYMBOLS = 16 };
    size_t num_symbols = fer_dim_num_symbols(dim);
    if (num_symbols > MAX_SYMBOLS)
        return;
    fer_assignment assignments[MAX_SYMBOLS];
    fer_substitution substitutions[MAX_SYMBOLS];
    fer_dim *constants[MAX_SYMBOLS];
    for (size_t i = 0; i < num_symbols; i++) {
        const char *name = fer_dim_symbol_at(dim, i, NULL);
        int64_t value = (int64_t)((unsigned char)name[0] % 7 * (i + 1)) - 3;
        require(fer_dim_constant(value, &constants[i], NULL) == FER_OK);
        assignments[i] = (fer_assignment){FER_NAMESPACE_CALLER, name, value};
        substitutions[i] = (fer_substitution){FER_NAMESPACE_CALLER, name, constants[i]};
    }
    int64_t value, folded_value;
    fer_dim *folded;
    fer_status status = fer_dim_evaluate(dim, assignments, num_symbols, &value, NULL);
    fer_status folded_status = fer_dim_substitute(dim, substitutions, num_symbols, &folded, NULL);
    if (status == FER_OK && folded_status == FER_OK)
        require(fer_dim_value(folded, &folded_value, NULL) == FER_OK && folded_value == value);
    else
        require(status == folded_status || status == FER_OVERFLOW_ERROR ||
                folded_status == FER_OVERFLOW_ERROR);
    fer_dim_release(folded);
    for (size_t i = 0; i < num_symbols; i++)
        fer_dim_release(constants[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    fer_dim *dim;
    fer_error error = FER_ERROR_INIT;
    if (fer_dim_parse(text, &dim, &error) == FER_OK) {
        check_text(dim);
        check_substitution(dim);
        check_value(dim);
        fer_dim_release(dim);
    } else {
        require(error.message != NULL && dim == NULL);
    }
    fer_error_clear(&error);
    free(text);
    return 0;
}
