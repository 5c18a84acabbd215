#include "graph/names.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Without memory uthash leaves the new entry out and its handle's table NULL, instead of ending the
 * process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A misspelling is looked for among so many names at most: edit distances are slow. */
#define MAX_CANDIDATES 1000

struct fer_name_entry {
    UT_hash_handle hh;
    void *thing;
    char name[];
};

static fer_name_entry *find_entry(const fer_names *names, const char *name)
{
    fer_name_entry *entry = NULL;
    HASH_FIND_STR(names->entries, name, entry);
    return entry;
}

void *fer_names_find(const fer_names *names, const char *name)
{
    fer_name_entry *entry = find_entry(names, name);
    return entry == NULL ? NULL : entry->thing;
}

const char *fer_names_key(const fer_names *names, const char *name)
{
    return find_entry(names, name)->name;
}

fer_status fer_names_add(fer_names *names, const char *name, const void *thing, fer_error *error)
{
    size_t length = strlen(name);
    fer_name_entry *entry = calloc(1, sizeof *entry + length + 1);
    if (entry == NULL)
        return fer_fail_memory(error);
    memcpy(entry->name, name, length + 1);
    entry->thing = (void *)thing;
    HASH_ADD_KEYPTR(hh, names->entries, entry->name, length, entry);
    if (entry->hh.tbl == NULL) {
        free(entry);
        return fer_fail_memory(error);
    }
    return FER_OK;
}

fer_status fer_names_set(fer_names *names, const char *name, const void *thing, fer_error *error)
{
    fer_name_entry *entry = find_entry(names, name);
    if (entry == NULL)
        return fer_names_add(names, name, thing, error);
    entry->thing = (void *)thing;
    return FER_OK;
}

size_t fer_names_count(const fer_names *names)
{
    return HASH_COUNT(names->entries);
}

void fer_names_remove(fer_names *names, const char *name)
{
    fer_name_entry *entry = find_entry(names, name);
    if (entry == NULL)
        return;
    HASH_DEL(names->entries, entry);
    free(entry);
}

void fer_names_clear(fer_names *names)
{
    fer_name_entry *entry, *next;
    HASH_ITER(hh, names->entries, entry, next)
    {
        HASH_DEL(names->entries, entry);
        free(entry);
    }
}

const char *fer_names_near(const fer_names *names, const char *name)
{
    const char *candidates[MAX_CANDIDATES];
    size_t num_candidates = 0;
    for (const fer_name_entry *entry = names->entries;
         entry != NULL && num_candidates < MAX_CANDIDATES; entry = entry->hh.next)
        candidates[num_candidates++] = entry->name;
    return fer_near_name(name, candidates, num_candidates);
}
