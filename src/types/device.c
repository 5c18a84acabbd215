#include <ferrule/dtype.h>

#include <pthread.h>
#include <stdlib.h>

#define MAX_DEVICES 16

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int device_count = 1;

/* What is no number from 1 to MAX_DEVICES counts as unset. */
static void read_device_count(void)
{
    const char *text = getenv("FERRULE_HOST_DEVICES");
    if (text == NULL || *text < '0' || *text > '9')
        return;
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    if (*end == '\0' && count >= 1 && count <= MAX_DEVICES)
        device_count = (int)count;
}

int fer_device_count(void)
{
    pthread_once(&once, read_device_count);
    return device_count;
}
