#include "package/overlay.h"

#include "package/library.h"

#include <pthread.h>
#include <stdlib.h>

struct fer_overlay {
    fer_package *package;
    fer_overlay *older;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fer_overlay *newest;

void fer_overlay_lock(void)
{
    pthread_mutex_lock(&lock);
}

void fer_overlay_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void fer_overlay_reset(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* A fork may come from now on. */
static void enter(void)
{
    fer_watch_forks();
    fer_overlay_lock();
}

fer_status fer_overlay_add(const fer_package *package, fer_overlay **out_overlay, fer_error *error)
{
    *out_overlay = NULL;
    fer_overlay *overlay = malloc(sizeof *overlay);
    if (overlay == NULL)
        return fer_fail_memory(error);
    overlay->package = fer_package_retain(package);
    enter();
    overlay->older = newest;
    newest = overlay;
    fer_overlay_unlock();
    *out_overlay = overlay;
    return FER_OK;
}

void fer_overlay_remove(fer_overlay *overlay)
{
    if (overlay == NULL)
        return;
    enter();
    fer_overlay **link = &newest;
    while (*link != overlay)
        link = &(*link)->older;
    *link = overlay->older;
    fer_overlay_unlock();
    fer_package_release(overlay->package);
    free(overlay);
}

fer_package *fer_overlay_find(const char *kernel)
{
    fer_package *found = NULL;
    enter();
    for (const fer_overlay *o = newest; o != NULL && found == NULL; o = o->older)
        if (fer_package_find(o->package, kernel, NULL))
            found = fer_package_retain(o->package);
    fer_overlay_unlock();
    return found;
}

fer_status fer_overlay_list(fer_package ***out_packages, size_t *out_count, fer_error *error)
{
    size_t count = 0;
    enter();
    for (const fer_overlay *o = newest; o != NULL; o = o->older)
        count++;
    fer_package **packages = calloc(count + 1, sizeof *packages);
    count = 0;
    for (const fer_overlay *o = newest; o != NULL && packages != NULL; o = o->older)
        packages[count++] = fer_package_retain(o->package);
    fer_overlay_unlock();
    *out_packages = packages;
    *out_count = count;
    return packages == NULL ? fer_fail_memory(error) : FER_OK;
}
