#include "types/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DEVICES 16

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int device_count = 1;

/* The number from 1 to MAX_DEVICES that the text is, else 0. */
static int parse_count(const char *text)
{
    if (*text < '0' || *text > '9')
        return 0;
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    return *end == '\0' && count <= MAX_DEVICES ? (int)count : 0;
}

/* NULL: not set. */
static const char *read_environment(void)
{
    const char *text = getenv("FERRULE_HOST_DEVICES");
    return text == NULL || *text == '\0' ? NULL : text;
}

static void read_device_count(void)
{
    const char *text = read_environment();
    int count = text == NULL ? 0 : parse_count(text);
    if (count > 0)
        device_count = count;
}

int fer_device_count(void)
{
    pthread_once(&once, read_device_count);
    return device_count;
}

fer_status fer_device_check_further(fer_device device, fer_error *error)
{
    int last = fer_device_count() - 1;
    if (device.id >= 0 && device.id <= last)
        return FER_OK;
    char expected[32], actual[16];
    snprintf(expected, sizeof expected, last == 0 ? "0" : "0 to %d", last);
    snprintf(actual, sizeof actual, "%d", (int)device.id);
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.expected = expected, .actual = actual},
                       "there is no device %s; %s %s, and FERRULE_HOST_DEVICES sets how many there "
                       "are",
                       actual, last == 0 ? "the only one is" : "devices are", expected);
}

void fer_append_device(fer_text *text, int32_t id)
{
    if (id != 0)
        fer_text_printf(text, " @ %d", (int)id);
}

fer_status fer_device_check_environment(fer_error *error)
{
    const char *text = read_environment();
    if (text == NULL || parse_count(text) > 0)
        return FER_OK;
    char expected[32];
    snprintf(expected, sizeof expected, "1 to %d", MAX_DEVICES);
    return fer_fail_at(error, FER_VALUE_ERROR, &(fer_place){.expected = expected, .actual = text},
                       "FERRULE_HOST_DEVICES is '%s', but it is a number of devices, %s", text,
                       expected);
}
