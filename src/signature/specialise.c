#include "signature/literal.h"
#include "signature/signature.h"

#include <string.h>

static fer_status fail_unknown(const fer_signature_spec *spec, const char *name, fer_error *error)
{
    const char *known[FER_MAX_GENERICS];
    fer_text list = FER_TEXT_INIT;
    for (size_t i = 0; i < spec->num_params; i++) {
        known[i] = spec->params[i].name;
        fer_text_printf(&list, "%s%s", i == 0 ? "" : ", ", known[i]);
    }
    const char *near = fer_near_name(name, known, spec->num_params);
    fer_place place = {.op = spec->name, .actual = name};
    fer_status status =
        fer_fail_at(error, FER_VALUE_ERROR, &place, "%s: there is no parameter '%s'; %s%s%s%s%s",
                    spec->name, name, spec->num_params == 0 ? "the op has none" : "the op has ",
                    fer_text_string(&list), near == NULL ? "" : " (did you mean '",
                    near == NULL ? "" : near, near == NULL ? "" : "'?)");
    fer_text_free(&list);
    return status;
}

fer_status fer_params_merge(const fer_signature_spec *spec, const fer_param *given,
                            size_t num_given, fer_param *params, fer_error *error)
{
    for (size_t i = 0; i < num_given; i++) {
        const char *name = given[i].name == NULL ? "" : given[i].name;
        const fer_param *found = fer_spec_find_param(spec, name);
        if (found == NULL)
            return fail_unknown(spec, name, error);
        fer_place place = {.op = spec->name};
        for (size_t j = 0; j < i; j++)
            if (strcmp(given[j].name, name) == 0)
                return fer_fail_at(error, FER_VALUE_ERROR, &place,
                                   "%s: parameter '%s' is given twice", spec->name, name);
        if (!given[i].has_value || fer_param_kind_name(given[i].kind) == NULL)
            return fer_fail_at(error, FER_TYPE_ERROR, &place,
                               "%s: parameter '%s' is given without a value", spec->name, name);
        FER_TRY(fer_param_assign(spec->name, &params[found - spec->params], &given[i], error));
    }
    return FER_OK;
}

fer_status fer_signature_specialise(const fer_signature *signature, const fer_param *params,
                                    size_t num_params, fer_signature **out_signature,
                                    fer_error *error)
{
    *out_signature = NULL;
    fer_param merged[FER_MAX_GENERICS];
    fer_signature_spec spec = signature->declared;
    if (spec.num_params > 0)
        memcpy(merged, spec.params, spec.num_params * sizeof *merged);
    FER_TRY(fer_params_merge(&signature->declared, params, num_params, merged, error));
    spec.params = merged;
    return fer_signature_create(&spec, out_signature, error);
}
