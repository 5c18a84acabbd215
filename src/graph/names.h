/* A table from names to things, for scopes of graphs and programs. */
#ifndef FERRULE_GRAPH_NAMES_H
#define FERRULE_GRAPH_NAMES_H

#include "base/error.h"

typedef struct fer_name_entry fer_name_entry;

/* Empty when zero. Names are copied; what they stand for is borrowed. */
typedef struct fer_names {
    fer_name_entry *entries;
} fer_names;

/* What the name stands for, or NULL. */
void *fer_names_find(const fer_names *names, const char *name);
/* The table's own copy of a name in it; lives as long as its entry. */
const char *fer_names_key(const fer_names *names, const char *name);
/* The name is not in the table yet; `thing` is not NULL. MEMORY. */
fer_status fer_names_add(fer_names *names, const char *name, const void *thing, fer_error *error);
/* The same for a name that may be there, which stands for this thing from now on. */
fer_status fer_names_set(fer_names *names, const char *name, const void *thing, fer_error *error);
size_t fer_names_count(const fer_names *names);
void fer_names_remove(fer_names *names, const char *name);
void fer_names_clear(fer_names *names);

/* The nearest name that could have been meant, or NULL; lives as long as its entry. */
const char *fer_names_near(const fer_names *names, const char *name);

#endif
