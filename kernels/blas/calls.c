#include "calls.h"

#include <pthread.h>
#include <semaphore.h>

/* Of each of the two objects that this is linked into, one for each dtype. */
enum { MAX_THREADS_IN_CALLS = 64 };

static sem_t places;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

void begin_calls(void)
{
    while (sem_wait(&places) != 0) /* a signal came */
        ;
}

void end_calls(void)
{
    sem_post(&places);
}

/* One at a time, or two forks might wait for each other's places. */
static void take_all_places(void)
{
    pthread_mutex_lock(&fork_lock);
    for (int i = 0; i < MAX_THREADS_IN_CALLS; i++)
        begin_calls();
}

static void give_all_places(void)
{
    for (int i = 0; i < MAX_THREADS_IN_CALLS; i++)
        end_calls();
    pthread_mutex_unlock(&fork_lock);
}

__attribute__((constructor)) static void watch_forks(void)
{
    sem_init(&places, 0, MAX_THREADS_IN_CALLS);
    pthread_atfork(take_all_places, give_all_places, give_all_places);
}
