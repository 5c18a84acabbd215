/* Calls of kernels, and transfers, for who wants to know of each: how long it took, and on what. */
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

void fer_tell_observer(fer_kernel_event *event)
{
    event->took = fer_log_clock() - event->start;
    observe(observe_context, event);
}

int fer_run_observed(fer_context *context, const fer_dl_tensor *const *tensors)
{
    const fer_specialisation *specialisation = fer_context_specialisation(context);
    fer_kernel_event event = {.name = specialisation->op->name,
                              .tensors = tensors,
                              .num_results = specialisation->plan.num_results,
                              .num_operands = specialisation->plan.num_operands,
                              .start = fer_log_clock()};
    int code = specialisation->unobserved(context, tensors);
    fer_tell_observer(&event);
    return code;
}
