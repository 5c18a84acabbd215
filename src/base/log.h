/* What the library does, one line an event on the standard error, for the topics that $FERRULE_LOG
 * names with commas between them. The variable is read once, at the first question. */
#ifndef FERRULE_BASE_LOG_H
#define FERRULE_BASE_LOG_H

#include "base/error.h"

typedef enum fer_log_topic {
    FER_LOG_DECLARE,
    FER_LOG_COMPILE,
    FER_LOG_CACHE,
    FER_LOG_CALL,
} fer_log_topic;

bool fer_log_has(fer_log_topic topic);
/* VALUE when the variable has a word that is no topic; elsewhere such words are passed over. */
fer_status fer_log_check_environment(fer_error *error);

/* Writes `[ferrule TOPIC] …` if the topic is on, by one call to the system, so that lines of
 * threads and processes do not mix. It ends at the text's first newline. Keeps errno. */
__attribute__((format(printf, 2, 3))) void fer_log(fer_log_topic topic, const char *format, ...);

/* Milliseconds since some moment, for how long something took. */
double fer_log_clock(void);

#endif
