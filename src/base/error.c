#include "base/error.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const STATUS_NAMES[] = {
    [FER_OK] = "OK",
    [FER_TYPE_ERROR] = "TYPE",
    [FER_VALUE_ERROR] = "VALUE",
    [FER_ZERO_DIVISION_ERROR] = "ZERO_DIVISION",
    [FER_OVERFLOW_ERROR] = "OVERFLOW",
    [FER_IO_ERROR] = "IO",
    [FER_COMPILE_ERROR] = "COMPILE",
    [FER_RUNTIME_ERROR] = "RUNTIME",
    [FER_MEMORY_ERROR] = "MEMORY",
    [FER_UNSUPPORTED_ERROR] = "UNSUPPORTED",
};

const char *fer_status_name(fer_status status)
{
    size_t index = (size_t)status;
    if (index >= sizeof STATUS_NAMES / sizeof *STATUS_NAMES)
        return "UNKNOWN";
    return STATUS_NAMES[index];
}

const char *fer_version(void)
{
    return FERRULE_VERSION;
}

void fer_string_free(char *string)
{
    free(string);
}

void fer_error_clear(fer_error *error)
{
    if (error == NULL)
        return;
    free(error->storage);
    *error = (fer_error){.kind = FER_OK};
}

/* All text of an error lies in one block, so that storing it needs one allocation and clearing it
 * one free. The block begins with the excerpt, "" where there is none. */
static const char *place_text(char **cursor, const char *text)
{
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    char *start = *cursor;
    memcpy(start, text, size);
    *cursor += size;
    return start;
}

static size_t text_bytes(const char *text)
{
    return text == NULL ? 0 : strlen(text) + 1;
}

static fer_status store(fer_error *error, fer_status kind, const fer_place *place,
                        const char *message)
{
    const char *excerpt = place->excerpt == NULL ? "" : place->excerpt;
    size_t size = text_bytes(excerpt) + text_bytes(message) + text_bytes(place->op) +
                  text_bytes(place->operand) + text_bytes(place->expected) +
                  text_bytes(place->actual);
    char *block = malloc(size);
    if (block == NULL)
        return fer_fail_memory(error);
    char *cursor = block;
    place_text(&cursor, excerpt);
    fer_error stored = {
        .kind = kind,
        .message = place_text(&cursor, message),
        .op = place_text(&cursor, place->op),
        .operand = place_text(&cursor, place->operand),
        .axis = place->has_axis ? place->axis : -1,
        .expected = place_text(&cursor, place->expected),
        .actual = place_text(&cursor, place->actual),
        .storage = block,
    };
    free(error->storage);
    *error = stored;
    return kind;
}

static fer_status fail_with(fer_error *error, fer_status kind, const fer_place *place,
                            const char *format, va_list arguments)
{
    if (error == NULL)
        return kind;
    fer_text message = FER_TEXT_INIT;
    fer_text_vprintf(&message, format, arguments);
    if (message.has_failed) {
        fer_text_free(&message);
        return fer_fail_memory(error);
    }
    fer_status status = store(error, kind, place, fer_text_string(&message));
    fer_text_free(&message);
    return status;
}

fer_status fer_fail(fer_error *error, fer_status kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fer_status status = fail_with(error, kind, &(fer_place){0}, format, arguments);
    va_end(arguments);
    return status;
}

fer_status fer_fail_at(fer_error *error, fer_status kind, const fer_place *place,
                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fer_status status = fail_with(error, kind, place, format, arguments);
    va_end(arguments);
    return status;
}

fer_status fer_fail_memory(fer_error *error)
{
    if (error != NULL) {
        fer_error_clear(error);
        error->kind = FER_MEMORY_ERROR;
        error->message = "out of memory";
        error->axis = -1;
    }
    return FER_MEMORY_ERROR;
}

fer_status fer_fail_count(fer_error *error, const fer_count *count)
{
    char expected[24], actual[24];
    snprintf(expected, sizeof expected, "%zu", count->expected);
    snprintf(actual, sizeof actual, "%zu", count->actual);
    fer_place place = {.op = count->op, .expected = expected, .actual = actual};
    return fer_fail_at(error, FER_TYPE_ERROR, &place, "%s%sexpected %s%s %s%s, got %s%s",
                       count->op == NULL ? "" : count->op, count->op == NULL ? "" : ": ",
                       count->is_room ? "room for " : "", expected, count->what,
                       count->expected == 1 ? "" : "s", actual,
                       count->rest == NULL ? "" : count->rest);
}

const char *fer_error_excerpt(const fer_error *error)
{
    const char *excerpt = error == NULL ? NULL : error->storage;
    return excerpt == NULL || *excerpt == '\0' ? NULL : excerpt;
}

fer_place fer_place_of(const fer_error *error)
{
    return (fer_place){
        .op = error->op,
        .operand = error->operand,
        .has_axis = error->axis >= 0,
        .axis = error->axis,
        .expected = error->expected,
        .actual = error->actual,
        .excerpt = fer_error_excerpt(error),
    };
}

void fer_error_set_excerpt(fer_error *error, const char *excerpt)
{
    if (error == NULL || error->storage == NULL || excerpt == NULL ||
        fer_error_excerpt(error) != NULL)
        return;
    fer_place place = fer_place_of(error);
    place.excerpt = excerpt;
    (void)store(error, error->kind, &place, error->message);
}

void fer_error_mark(fer_error *error, const char *line, size_t column)
{
    if (error == NULL || error->storage == NULL || fer_error_excerpt(error) != NULL)
        return;
    fer_text excerpt = FER_TEXT_INIT;
    fer_text_append_excerpt(&excerpt, line, column);
    if (!excerpt.has_failed)
        fer_error_set_excerpt(error, fer_text_string(&excerpt));
    fer_text_free(&excerpt);
}

fer_status fer_error_prepend(fer_error *error, fer_status kind, const char *format, ...)
{
    if (error == NULL || error->message == NULL)
        return kind;
    if (error->storage == NULL)
        return error->kind; /* out of memory: nothing to build on */
    fer_text message = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&message, format, arguments);
    va_end(arguments);
    fer_text_append(&message, error->message);
    fer_place place = fer_place_of(error);
    fer_status status = message.has_failed
                            ? fer_fail_memory(error)
                            : store(error, error->kind, &place, fer_text_string(&message));
    fer_text_free(&message);
    return status;
}

fer_status fer_error_move(fer_error *target, fer_error *source)
{
    fer_status kind = source->kind;
    if (target == NULL) {
        fer_error_clear(source);
        return kind;
    }
    fer_error_clear(target);
    *target = *source;
    *source = (fer_error){.kind = FER_OK};
    return kind;
}
