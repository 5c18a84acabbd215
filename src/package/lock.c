#include "package/lock.h"

#include "base/log.h"
#include "base/path.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_FILE "lock"

static int open_lock_file(const fer_store *store, int access)
{
    char *path = NULL;
    if (fer_path_join(store->root, LOCK_FILE, &path, NULL) != FER_OK)
        return -1;
    int file = open(path, access | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    free(path);
    return file;
}

/* A key's byte: 56 bits of it, since an offset is 63; turns are kept beyond those that are held. */
static struct flock lock_of(const char *key, short type, bool is_turn)
{
    char digits[15] = "";
    memcpy(digits, key, sizeof digits - 1);
    return (struct flock){
        .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = (off_t)strtoull(digits, NULL, 16) + (is_turn ? (off_t)1 << 60 : 0),
        .l_len = 1,
    };
}

/* --- Holding ---------------------------------------------------------------------------------- */

/* These locks belong to an open file, so that one open file serves all keys of a store, and a
 * forked child holds what its parent did. */
typedef struct lock_file {
    struct lock_file *next;
    dev_t device;
    ino_t inode;
    int file;
} lock_file;

static _Atomic(lock_file *) lock_files; /* only grows, at its head */

int fer_locks_open(const fer_store *store)
{
    return open_lock_file(store, O_RDONLY);
}

/* The open file that this process holds its locks by. It stays open. */
static int own_lock_file(const fer_store *store)
{
    struct stat about;
    int file = fer_locks_open(store);
    if (file < 0 || fstat(file, &about) != 0)
        goto failed;
    for (const lock_file *own = atomic_load(&lock_files); own != NULL; own = own->next)
        if (own->device == about.st_dev && own->inode == about.st_ino) {
            close(file);
            return own->file;
        }
    lock_file *made = malloc(sizeof *made);
    if (made == NULL)
        goto failed;
    *made = (lock_file){atomic_load(&lock_files), about.st_dev, about.st_ino, file};
    /* Two threads may add the same file: the locks of both hold. */
    while (!atomic_compare_exchange_weak(&lock_files, &made->next, made))
        ;
    return file;

failed:
    if (file >= 0)
        close(file);
    return -1;
}

void fer_store_hold(const fer_store *store, const char *key)
{
    int file = own_lock_file(store);
    struct flock lock = lock_of(key, F_RDLCK, false);
    if (file >= 0)
        (void)!fcntl(file, F_OFD_SETLK, &lock);
}

bool fer_locks_has(int file, const char *key)
{
    struct flock lock = lock_of(key, F_WRLCK, false);
    return file >= 0 && fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* --- Turns ------------------------------------------------------------------------------------ */

/* Each has an open file of its own, which a forked child closes: it would keep the turn of a parent
 * that is killed. */
static pthread_mutex_t turns_lock = PTHREAD_MUTEX_INITIALIZER;
static fer_turn *turns;

static void before_fork(void)
{
    pthread_mutex_lock(&turns_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&turns_lock);
}

static void after_fork_in_child(void)
{
    for (; turns != NULL; turns = turns->next) {
        close(turns->file);
        turns->file = -1;
    }
    turns_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Not yet in the list when a fork comes between: so both under the lock. */
static void open_turn(const fer_store *store, fer_turn *turn)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&turns_lock);
    turn->file = open_lock_file(store, O_RDWR);
    if (turn->file >= 0) {
        turn->next = turns;
        turns = turn;
    }
    pthread_mutex_unlock(&turns_lock);
}

void fer_turn_end(fer_turn *turn)
{
    pthread_mutex_lock(&turns_lock);
    fer_turn **link = &turns;
    while (*link != NULL && *link != turn)
        link = &(*link)->next;
    if (*link != NULL) {
        *link = turn->next;
        close(turn->file);
    }
    turn->file = -1;
    pthread_mutex_unlock(&turns_lock);
}

bool fer_turn_take(const fer_store *store, const char *key, fer_turn *out_turn)
{
    *out_turn = (fer_turn){.file = -1};
    open_turn(store, out_turn);
    struct flock lock = lock_of(key, F_WRLCK, true);
    if (out_turn->file < 0 || fcntl(out_turn->file, F_OFD_SETLK, &lock) == 0)
        return true;
    bool is_taken = errno == EAGAIN || errno == EACCES;
    fer_turn_end(out_turn);
    return !is_taken;
}

/* Asks again and again, since a wait for a lock has no end. */
fer_status fer_turn_wait(const fer_store *store, const char *key, double seconds,
                         fer_turn *out_turn, bool *out_has_turn, fer_error *error)
{
    enum { FIRST = 1000000, LONGEST = 20000000 }; /* nanoseconds */
    double end = fer_log_clock() + 1e3 * seconds;
    struct timespec pause = {.tv_nsec = FIRST};
    while (!(*out_has_turn = fer_turn_take(store, key, out_turn)) && fer_log_clock() < end) {
        if (fer_process_is_interrupted())
            return fer_fail(error, FER_COMPILE_ERROR,
                            "interrupted while another process compiles the same");
        nanosleep(&pause, NULL);
        pause.tv_nsec = 2 * pause.tv_nsec < LONGEST ? 2 * pause.tv_nsec : LONGEST;
    }
    return FER_OK;
}
