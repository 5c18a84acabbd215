#include "package/openmp.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static bool find(void *handle, const char *name, void *out_function)
{
    void *symbol = dlsym(handle, name);
    memcpy(out_function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void keep_loaded(const void *symbol)
{
    Dl_info about;
    if (dladdr(symbol, &about) == 0)
        return;
    void *runtime = dlopen(about.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    if (runtime != NULL)
        dlclose(runtime);
}

bool fer_openmp_find(void *handle, fer_openmp *out_openmp)
{
    bool is_found = find(handle, "omp_get_max_threads", &out_openmp->get_threads) &&
                    find(handle, "omp_set_num_threads", &out_openmp->set_threads) &&
                    find(handle, "omp_get_max_active_levels", &out_openmp->get_levels) &&
                    find(handle, "omp_set_max_active_levels", &out_openmp->set_levels);
    if (is_found)
        keep_loaded(dlsym(handle, "omp_get_max_threads"));
    return is_found;
}

fer_openmp_limits fer_openmp_limit(const fer_openmp *openmp, int num_threads)
{
    const fer_openmp_limits before = {openmp->get_threads(), openmp->get_levels()};
    openmp->set_threads(num_threads);
    if (num_threads == 1)
        openmp->set_levels(0);
    return before;
}

void fer_openmp_restore(const fer_openmp *openmp, fer_openmp_limits limits)
{
    openmp->set_threads(limits.threads);
    openmp->set_levels(limits.levels);
}
