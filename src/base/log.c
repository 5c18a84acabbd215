#include "base/log.h"

#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const TOPICS[] = {
    [FER_LOG_DECLARE] = "declare",
    [FER_LOG_COMPILE] = "compile",
    [FER_LOG_CACHE] = "cache",
    [FER_LOG_CALL] = "call",
};
enum { NUM_TOPICS = sizeof TOPICS / sizeof *TOPICS };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_on[NUM_TOPICS];

/* The next word up to a comma; NULL after the last. */
static const char *next_word(const char **rest, size_t *out_length)
{
    *rest += strspn(*rest, ", ");
    const char *word = *rest;
    *out_length = strcspn(word, ", ");
    *rest += *out_length;
    return *out_length == 0 ? NULL : word;
}

static size_t find_topic(const char *word, size_t length)
{
    size_t topic = 0;
    while (topic < NUM_TOPICS &&
           (strlen(TOPICS[topic]) != length || memcmp(TOPICS[topic], word, length) != 0))
        topic++;
    return topic;
}

static const char *read_environment(void)
{
    const char *text = getenv("FERRULE_LOG");
    return text == NULL ? "" : text;
}

static void choose_topics(void)
{
    const char *rest = read_environment();
    size_t length;
    for (const char *word; (word = next_word(&rest, &length)) != NULL;) {
        size_t topic = find_topic(word, length);
        if (topic < NUM_TOPICS)
            is_on[topic] = true;
    }
}

bool fer_log_has(fer_log_topic topic)
{
    pthread_once(&once, choose_topics);
    return is_on[topic];
}

fer_status fer_log_check_environment(fer_error *error)
{
    const char *rest = read_environment();
    size_t length;
    for (const char *word; (word = next_word(&rest, &length)) != NULL;)
        if (find_topic(word, length) == NUM_TOPICS)
            return fer_fail(error, FER_VALUE_ERROR,
                            "FERRULE_LOG has '%.*s', but it is any of declare, compile, cache and "
                            "call, with commas between",
                            (int)length, word);
    return FER_OK;
}

static void write_line(const char *line, size_t length)
{
    while (length > 0) {
        ssize_t count = write(STDERR_FILENO, line, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        line += count;
        length -= (size_t)count;
    }
}

void fer_log(fer_log_topic topic, const char *format, ...)
{
    if (!fer_log_has(topic))
        return;
    int kept = errno;
    fer_text line = FER_TEXT_INIT;
    fer_text_printf(&line, "[ferrule %s] ", TOPICS[topic]);
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&line, format, arguments);
    va_end(arguments);
    if (line.length > 0)
        line.length = strcspn(line.data, "\n");
    fer_text_append_char(&line, '\n');
    if (!line.has_failed)
        write_line(line.data, line.length);
    fer_text_free(&line);
    errno = kept;
}

double fer_log_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}
