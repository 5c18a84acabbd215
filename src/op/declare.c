#include "base/log.h"
#include "base/text.h"
#include "op/op.h"
#include "package/overlay.h"
#include "signature/parse.h"
#include "signature/unify.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* --- Finding the kernel ----------------------------------------------------------------------- */

/* Where a kernel is looked for: the op's own packages, then the overlay. */
typedef struct places {
    fer_package **packages; /* of the overlay */
    size_t num_own;
    size_t count;
    const fer_op *op;
} places;

static const fer_package *place_at(const places *all, size_t index)
{
    return index < all->num_own ? all->op->packages[index] : all->packages[index - all->num_own];
}

static const char *nearest_kernel(const places *all, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += fer_package_num_kernels(place_at(all, i));
    const char **names = calloc(count + 1, sizeof *names);
    if (names == NULL)
        return NULL;
    size_t filled = 0;
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; j < fer_package_num_kernels(place_at(all, i)); j++)
            names[filled++] = fer_package_kernel(place_at(all, i), j).name;
    const char *nearest = fer_near_name(name, names, filled);
    free(names);
    return nearest;
}

static fer_status fail_missing_in(const places *all, const char *name, fer_error *error)
{
    fer_text where = FER_TEXT_INIT;
    for (size_t i = 0; i < all->count; i++) {
        const fer_package *package = place_at(all, i);
        size_t count = fer_package_num_kernels(package);
        fer_text_printf(&where, "%s%s%s (which has ", i == 0 ? "" : ", ",
                        i == all->num_own ? "the overlay: " : "", fer_package_path(package));
        for (size_t j = 0; j < count; j++)
            fer_text_printf(&where, "%s%s", j == 0 ? "" : ", ",
                            fer_package_kernel(package, j).name);
        if (count == 0)
            fer_text_printf(&where,
                            "no kernels: no .c file in it has KERNEL(%s, ...) or MAP(%s, ...)",
                            name, name);
        fer_text_append_char(&where, ')');
    }
    const char *near = nearest_kernel(all, name);
    fer_place place = {.op = name};
    fer_status status =
        all->count == 0
            ? fer_fail_at(error, FER_VALUE_ERROR, &place,
                          "%s: no package was given to look for the kernel in; give the kernel's "
                          "folder, or \"std\"",
                          name)
            : fer_fail_at(error, FER_VALUE_ERROR, &place, "%s: there is no such kernel in %s%s%s%s",
                          name, fer_text_string(&where), near == NULL ? "" : "; did you mean '",
                          near == NULL ? "" : near, near == NULL ? "" : "'?");
    fer_text_free(&where);
    return status;
}

static fer_status fail_missing(const fer_op *op, const char *name, fer_error *error)
{
    places all = {.op = op, .num_own = op->num_packages};
    FER_TRY(fer_overlay_list(&all.packages, &all.count, error));
    all.count += all.num_own;
    fer_status status = fail_missing_in(&all, name, error);
    for (size_t i = all.num_own; i < all.count; i++)
        fer_package_release(all.packages[i - all.num_own]);
    free(all.packages);
    return status;
}

/* Takes the package into the op, as if it had been declared with it. */
static fer_status take_from_overlay(fer_op *op, const char *name, fer_error *error)
{
    fer_package *found = fer_overlay_find(name);
    if (found == NULL)
        return fail_missing(op, name, error);
    if (op->num_packages == FER_MAX_PACKAGES) {
        fer_package_release(found);
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = name},
                           "%s: an op takes at most %d packages, the one of the overlay that has "
                           "the kernel among them",
                           name, FER_MAX_PACKAGES);
    }
    op->packages[op->num_packages++] = found;
    return FER_OK;
}

static fer_status find_home(fer_op *op, const char *name, fer_kernel_info *out_info,
                            fer_error *error)
{
    size_t place = 0;
    while (place < op->num_packages && !fer_package_find(op->packages[place], name, out_info))
        place++;
    if (place == op->num_packages) {
        FER_TRY(take_from_overlay(op, name, error));
        (void)fer_package_find(op->packages[place], name, out_info);
    }
    op->home = op->packages[place];
    return FER_OK;
}

/* --- Building an op --------------------------------------------------------------------------- */

static fer_status allocate(fer_op **out_op, fer_error *error)
{
    fer_op *op = calloc(1, sizeof *op);
    if (op == NULL)
        return fer_fail_memory(error);
    atomic_init(&op->references, 1);
    *out_op = op;
    return FER_OK;
}

static fer_status open_packages(fer_op *op, const fer_declaration *declaration, fer_error *error)
{
    for (size_t i = 0; i < FER_MAX_PACKAGES && declaration->packages[i] != NULL; i++) {
        FER_TRY(fer_package_open(declaration->packages[i], &op->packages[i], error));
        op->num_packages = i + 1;
    }
    if (declaration->source == NULL)
        return FER_OK;
    if (op->num_packages == FER_MAX_PACKAGES)
        return fer_fail(error, FER_VALUE_ERROR,
                        "an op takes at most %d packages, its source in memory among them",
                        FER_MAX_PACKAGES);
    FER_TRY(fer_package_from_source(declaration->source, &op->packages[op->num_packages], error));
    op->num_packages++;
    return FER_OK;
}

static fer_status read_signature(fer_op *op, const fer_declaration *declaration,
                                 fer_signature **out_signature, fer_error *error)
{
    int given = (declaration->signature != NULL) + (declaration->parsed != NULL) +
                (declaration->kernel != NULL);
    if (given != 1)
        return fer_fail(error, FER_VALUE_ERROR,
                        "a declaration takes one of a signature's text, a parsed signature and a "
                        "kernel's name; %d were given",
                        given);
    const fer_param *params = declaration->params;
    size_t num_params = declaration->num_params;
    if (declaration->signature != NULL)
        return fer_signature_parse_given(declaration->signature, params, num_params, out_signature,
                                         error);
    if (declaration->parsed != NULL && num_params > 0)
        return fer_signature_specialise(declaration->parsed, params, num_params, out_signature,
                                        error);
    if (declaration->parsed != NULL) {
        *out_signature = fer_signature_retain(declaration->parsed);
        return FER_OK;
    }
    fer_kernel_info info;
    FER_TRY(find_home(op, declaration->kernel, &info, error));
    if (info.signature == NULL)
        return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.op = info.name},
                           "%s: %s has no SIGNATURE for it; write one there, or give the "
                           "declaration",
                           info.name, info.file);
    fer_status status =
        fer_signature_parse_given(info.signature, params, num_params, out_signature, error);
    /* The file is named for what is its own fault, not for values that do not fit it. */
    fer_signature *by_itself = NULL;
    if (status != FER_OK && fer_signature_parse(info.signature, &by_itself, NULL) != FER_OK)
        status = info.line > 0 ? fer_error_prepend(error, status, "%s:%d: ", info.file, info.line)
                               : fer_error_prepend(error, status, "%s: ", info.file);
    fer_signature_release(by_itself);
    return status;
}

void fer_op_first_dtypes(const fer_op *op, fer_dtype *out_dtypes)
{
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    static const fer_dtype ORDER[] = {FER_F32,  FER_F64,  FER_I32, FER_I64,      FER_U8,
                                      FER_I8,   FER_I16,  FER_U16, FER_U32,      FER_U64,
                                      FER_BOOL, FER_BF16, FER_F16, FER_F8E4M3FN, FER_F8E5M2};
    for (size_t i = 0; i < spec->num_dtype_vars; i++) {
        uint32_t allowed = spec->dtype_vars[i].allowed;
        size_t choice = 0;
        while (allowed != 0 && (allowed & FER_DTYPE_BIT(ORDER[choice])) == 0)
            choice++;
        out_dtypes[i] = ORDER[choice];
    }
}

static fer_status select_representative(const fer_op *op,
                                        const fer_specialisation **out_specialisation,
                                        fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(op->signature);
    fer_dtype *dtypes = calloc(spec->num_dtype_vars + 1, sizeof *dtypes);
    if (dtypes == NULL)
        return fer_fail_memory(error);
    fer_op_first_dtypes(op, dtypes);
    fer_status status = fer_op_select(op, dtypes, out_specialisation, error);
    free(dtypes);
    return status;
}

/* Takes the signature into the op and works out what follows from it. */
static fer_status set_signature(fer_op *op, fer_signature *signature, fer_error *error)
{
    const fer_signature_spec *spec = fer_signature_folded(signature);
    op->signature = signature;
    op->name = spec->name;
    op->num_operands = spec->num_operands;
    op->num_results = spec->num_results;
    op->is_complete = fer_signature_is_complete(signature);
    return fer_token_create(signature, op->packages, op->num_packages, &op->token, error);
}

/* The kernel is judged as far as its text goes. Then an incomplete op waits for its parameters; any
 * other is compiled now, so that a fault shows here. */
static fer_status judge_kernel(const fer_op *op, fer_error *error)
{
    const fer_specialisation *specialisation;
    FER_TRY(fer_conform_text(op->signature, op->home, error));
    return op->is_complete ? select_representative(op, &specialisation, error) : FER_OK;
}

/* `op` NULL: it failed. */
static void log_declaration(const fer_op *op, double start, const fer_error *error)
{
    double took = fer_log_clock() - start;
    if (op != NULL)
        fer_log(FER_LOG_DECLARE, "%s is %s, in %.2f ms", op->token, fer_op_text(op), took);
    else
        fer_log(FER_LOG_DECLARE, "failed after %.2f ms%s%s", took, error != NULL ? ": " : "",
                error != NULL ? error->message : "");
}

fer_status fer_declare(const fer_declaration *declaration, fer_op **out_op, fer_error *error)
{
    *out_op = NULL;
    fer_op *op = NULL;
    fer_signature *signature = NULL;
    double start = fer_log_clock();
    FER_TRY(allocate(&op, error));
    fer_status status = open_packages(op, declaration, error);
    if (status != FER_OK)
        goto done;
    FER_TRY_DONE(read_signature(op, declaration, &signature, error));
    FER_TRY_DONE(find_home(op, fer_signature_folded(signature)->name, NULL, error));
    status = set_signature(op, signature, error);
    signature = NULL; /* the op has it */
    if (status != FER_OK)
        goto done;
    FER_TRY_DONE(judge_kernel(op, error));
    *out_op = op;
    op = NULL;

done:
    log_declaration(*out_op, start, error);
    fer_signature_release(signature);
    fer_op_release(op);
    return status;
}

fer_status fer_op_specialise(const fer_op *op, const fer_param *params, size_t num_params,
                             fer_op **out_op, fer_error *error)
{
    *out_op = NULL;
    fer_op *made = NULL;
    fer_signature *signature = NULL;
    double start = fer_log_clock();
    FER_TRY(fer_signature_specialise(op->signature, params, num_params, &signature, error));
    fer_status status = allocate(&made, error);
    if (status != FER_OK) {
        fer_signature_release(signature);
        return status;
    }
    for (size_t i = 0; i < op->num_packages; i++)
        made->packages[i] = fer_package_retain(op->packages[i]);
    made->num_packages = op->num_packages;
    made->home = op->home;
    FER_TRY_DONE(set_signature(made, signature, error));
    if (made->home != NULL)
        FER_TRY_DONE(judge_kernel(made, error));
    *out_op = made;
    made = NULL;

done:
    log_declaration(*out_op, start, error);
    fer_op_release(made);
    return status;
}

fer_status fer_op_from_signature(const fer_signature *signature, fer_op **out_op, fer_error *error)
{
    *out_op = NULL;
    fer_op *op = NULL;
    FER_TRY(allocate(&op, error));
    fer_status status = set_signature(op, fer_signature_retain(signature), error);
    if (status == FER_OK)
        *out_op = op;
    else
        fer_op_release(op);
    return status;
}

/* --- Looking at an op ------------------------------------------------------------------------- */

fer_op *fer_op_retain(const fer_op *op)
{
    fer_op *retained = (fer_op *)op;
    atomic_fetch_add_explicit(&retained->references, 1, memory_order_relaxed);
    return retained;
}

const char *fer_op_name(const fer_op *op)
{
    return op->name;
}

const fer_signature *fer_op_signature(const fer_op *op)
{
    return op->signature;
}

const char *fer_op_text(const fer_op *op)
{
    return fer_signature_text(op->signature);
}

const char *fer_op_token(const fer_op *op)
{
    return op->token;
}

bool fer_op_is_complete(const fer_op *op)
{
    return op->is_complete;
}

size_t fer_op_num_extensions(const fer_op *op)
{
    return op->num_packages;
}

const char *fer_op_extension(const fer_op *op, size_t index)
{
    return fer_package_path(op->packages[index]);
}

bool fer_op_equal(const fer_op *a, const fer_op *b)
{
    if (a == b)
        return true;
    if (a->num_packages != b->num_packages || !fer_signature_equal(a->signature, b->signature))
        return false;
    for (size_t i = 0; i < a->num_packages; i++)
        if (strcmp(fer_op_extension(a, i), fer_op_extension(b, i)) != 0)
            return false;
    return true;
}

/* The token digests the fields that equality compares. */
uint64_t fer_op_hash(const fer_op *op)
{
    return XXH3_64bits(op->token, strlen(op->token));
}

size_t fer_op_num_binaries(const fer_op *op)
{
    size_t count = 0;
    for (const fer_specialisation *s = atomic_load(&op->specialisations); s != NULL; s = s->next)
        count++;
    return count;
}

/* The list grows at its head: counted from its end, an index stays what it is. */
const char *fer_op_binary(const fer_op *op, size_t index)
{
    const fer_specialisation *specialisation = atomic_load(&op->specialisations);
    size_t count = fer_op_num_binaries(op);
    for (size_t i = index + 1; i < count; i++)
        specialisation = specialisation->next;
    return fer_library_path(specialisation->library);
}
