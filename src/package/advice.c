#include "package/advice.h"

#include "signature/literal.h"

#include <stdio.h>
#include <string.h>

/* --- The header ------------------------------------------------------------------------------- */

enum { MAX_DEPTH = 8 };

static bool may_see_header(const fer_package *package, const fer_source *file, int depth);

/* Whether an include is kernel.h, or leads to it, or where nobody knows. */
static bool may_lead_to_header(const fer_package *package, const fer_source *file,
                               const fer_found *include, int depth)
{
    char **places = NULL;
    bool may = strcmp(include->name, "ferrule/kernel.h") == 0 || depth == MAX_DEPTH ||
               fer_include_places(package, file->name, include, &places, NULL) != FER_OK;
    if (may)
        return true;
    const fer_outside *outside = atomic_load(&((fer_package *)package)->outside);
    for (size_t i = 0; places[i] != NULL && !may; i++) {
        const fer_source *next = fer_package_file(package, outside, places[i]);
        may = next != NULL && may_see_header(package, next, depth + 1);
    }
    fer_places_free(places);
    return may;
}

static bool may_see_header(const fer_package *package, const fer_source *file, int depth)
{
    if (file->scan.hides_dtype_vars) /* an include by a macro */
        return true;
    for (size_t i = 0; i < file->scan.num_items; i++) {
        const fer_found *found = &file->scan.items[i];
        if (found->kind == FER_FOUND_INCLUDE && may_lead_to_header(package, file, found, depth))
            return true;
    }
    return false;
}

/* --- Parameters ------------------------------------------------------------------------------- */

static bool is_kind(const char *word)
{
    for (int kind = FER_PARAM_INT; kind <= FER_PARAM_DTYPE; kind++)
        if (strcmp(word, fer_param_kind_name((fer_param_kind)kind)) == 0)
            return true;
    return false;
}

/* The first PARAM of the file that begins with something else than a kind; NULL: none does. */
static const fer_found *find_bad_param(const fer_source *file)
{
    for (size_t i = 0; i < file->scan.num_items; i++) {
        const fer_found *found = &file->scan.items[i];
        if (found->kind == FER_FOUND_PARAM && !found->is_conditional && is_kind(found->name))
            return found;
    }
    return NULL;
}

/* The parameter that the compiler does not know by its name. */
static const fer_param *find_undeclared(const fer_request *request, const char *error,
                                        size_t length)
{
    static const char *const FORMS[] = {"'%.64s' undeclared", "undeclared identifier '%.64s'"};
    for (size_t i = 0; i < request->num_params; i++)
        for (size_t j = 0; j < sizeof FORMS / sizeof *FORMS; j++) {
            char form[128];
            snprintf(form, sizeof form, FORMS[j], request->params[i].name);
            if (memmem(error, length, form, strlen(form)) != NULL)
                return &request->params[i];
        }
    return NULL;
}

/* --- Words ------------------------------------------------------------------------------------ */

/* Of gcc and of clang. */
static const struct {
    const char *words;
    const char *advice;
} WORDS[] = {
#define ENDS "a KERNEL and a SHAPE end with `return OK;`, a MAP returns its element"
    {"no return statement in function returning non-void", ENDS},
    {"control reaches end of non-void function", ENDS},
    {"with no value, in function returning non-void", ENDS},
    {"non-void function does not return a value", ENDS},
    {"should return a value [-Wreturn-type]", ENDS},
#define ROLES                                                                                      \
    "a KERNEL takes OUT(dtype, rank, name) and IN(dtype, rank, name), a MAP its result's dtype "   \
    "and IN(dtype, name)"
    {"macro \"OUT\" ", ROLES},
    {"macro \"INOUT\" ", ROLES},
    {"arguments provided to function-like macro invocation", ROLES},
    {"expected expression before 'const'", ROLES},
    {"FER_RANK_", "a rank is a number up to 8, or ANY"},
    {"expected identifier or '('", "no `;` stands between a KERNEL's line and its body"},
    {"expected ',' or ';' before '_Static_assert'", "SIGNATURE, PARAM and DTYPE_VAR end with `;`"},
    {"expected ';' after top level declarator", "SIGNATURE, PARAM and DTYPE_VAR end with `;`"},
    {"subscripted value is n", "an element is AT(x, i, j), or DATA(x)[i] in row-major order"},
    {"of read-only location", "what a kernel writes is OUT or INOUT on its line"},
    {"read-only variable is not assignable", "what a kernel writes is OUT or INOUT on its line"},
};

static const char *find_advice(const char *error, size_t length)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (memmem(error, length, WORDS[i].words, strlen(WORDS[i].words)) != NULL)
            return WORDS[i].advice;
    return NULL;
}

void fer_append_advice(fer_text *text, const fer_request *request, const char *error, size_t length)
{
    const fer_package *package = request->package;
    if (request->main == NULL)
        return;
    const fer_found *bad = find_bad_param(request->main);
    const fer_param *param = find_undeclared(request, error, length);
    const char *advice = find_advice(error, length);
    if (package->flags.includes.count == 0 && !may_see_header(package, request->main, 0))
        fer_text_append(text, "; write `#include <ferrule/kernel.h>` at the top of the file");
    else if (bad != NULL)
        fer_text_printf(text, "; a parameter's kind comes first: PARAM(%s, %s, ...);", bad->name,
                        bad->text);
    else if (param != NULL)
        fer_text_printf(text, "; '%s' is a parameter: write PARAM(%s, %s, ...); above", param->name,
                        fer_param_kind_name(param->kind), param->name);
    else if (advice != NULL)
        fer_text_printf(text, "; %s", advice);
}
