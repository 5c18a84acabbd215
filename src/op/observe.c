/* Calls of kernels for who wants to know of each: how long it took, and on what. */
#include "base/log.h"
#include "op/op.h"

static fer_observer observe;
static void *observe_context;

void fer_observe_kernels(fer_observer observer, void *context)
{
    observe = observer;
    observe_context = context;
}

bool fer_kernels_are_observed(void)
{
    return observe != NULL;
}

int fer_run_observed(fer_context *context, const fer_dl_tensor *const *tensors)
{
    const fer_specialisation *specialisation = fer_context_specialisation(context);
    double start = fer_log_clock();
    int code = specialisation->unobserved(context, tensors);
    fer_kernel_event event = {.specialisation = specialisation,
                              .tensors = tensors,
                              .start = start,
                              .took = fer_log_clock() - start};
    observe(observe_context, &event);
    return code;
}
