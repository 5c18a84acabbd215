/* What a process uses of the store, and what it is about to put there, for other processes to see.
 *
 * Both are locks on single bytes of one file, which the kernel lets go when a process ends, however
 * it ends. Where files cannot be locked nothing is lost but what the locks are for: a binary that
 * is loaded stays usable when its file goes, and two processes build the same.
 */
#ifndef FERRULE_PACKAGE_LOCK_H
#define FERRULE_PACKAGE_LOCK_H

#include "package/store.h"

#include <sys/types.h>

/* Keeps the file of this key for as long as this process lives, or one forked from it. */
void fer_store_hold(const fer_store *store, const char *key);

/* The file of the locks, opened for questions alone, so that the asker's own locks count; -1: there
 * is none. */
int fer_locks_open(const fer_store *store);
/* Whether a living process holds the file of this key. */
bool fer_locks_has(int file, const char *key);

/* The turn to build what a key names. A stopped process does not stop the others for ever: they
 * wait only so long, and then have no turn but build nevertheless. */
#define FER_TURN_SECONDS 120

typedef struct fer_turn {
    int file; /* -1: none */
    struct fer_turn *next;
} fer_turn;

/* Takes the turn, or says that another process or thread has it. True where nothing can be locked.
 * The turn lies where it is until it ends, and not in a forked child. */
bool fer_turn_take(const fer_store *store, const char *key, fer_turn *out_turn);
/* The same, waiting that many seconds. COMPILE: interrupted. */
fer_status fer_turn_wait(const fer_store *store, const char *key, double seconds,
                         fer_turn *out_turn, bool *out_has_turn, fer_error *error);
void fer_turn_end(fer_turn *turn);

#endif
