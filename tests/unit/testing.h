/* What every unit test needs: cmocka with its own headers in order, checks that show the error's
 * message, and rows of the case tables.
 *
 *     fer_error error = FER_ERROR_INIT;
 *     ASSERT_OK(&error, fer_dim_parse("n + 1", &dim, &error));
 *     ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_dim_parse("n +", &dim, &error), "column 4");
 */
#ifndef FERRULE_TESTING_H
#define FERRULE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ferrule/status.h>

/* The call succeeds; else its message is the failure. */
#define ASSERT_OK(error, call) testing_check_ok((error), (call), #call, __FILE__, __LINE__)

/* The call fails with this kind, and its message holds each of the words (at least one is given).
 * Clears the error. */
#define ASSERT_FAILS(error, kind, call, ...)                                                       \
    testing_check_fails((error), (kind), (call), (const char *const[]){__VA_ARGS__, NULL}, #call,  \
                        __FILE__, __LINE__)

static inline void testing_check_ok(fer_error *error, fer_status status, const char *call,
                                    const char *file, int line)
{
    if (status == FER_OK)
        return;
    print_error("%s\n%s: %s\n", call, fer_status_name(status),
                error->message == NULL ? "(no message)" : error->message);
    fer_error_clear(error);
    _fail(file, line);
}

static inline void testing_check_fails(fer_error *error, fer_status kind, fer_status status,
                                       const char *const *words, const char *call, const char *file,
                                       int line)
{
    const char *message = error->message == NULL ? "" : error->message;
    const char *missing = NULL;
    for (size_t i = 0; words[i] != NULL && missing == NULL; i++)
        if (strstr(message, words[i]) == NULL)
            missing = words[i];
    if (status != kind || error->kind != kind || missing != NULL) {
        print_error("%s\nexpected %s, got %s: %s\n", call, fer_status_name(kind),
                    fer_status_name(status), message);
        if (missing != NULL)
            print_error("the message lacks \"%s\"\n", missing);
        fer_error_clear(error);
        _fail(file, line);
    }
    fer_error_clear(error);
}

#define TESTING_MAX_COLUMNS 8

/* One row of a case table. Columns that the row lacks are "". */
typedef struct testing_row {
    size_t line;
    const char *columns[TESTING_MAX_COLUMNS];
} testing_row;

typedef struct testing_table {
    char *data;
    testing_row *rows;
    size_t num_rows;
} testing_table;

static inline void testing_split_row(char *text, size_t line, testing_row *out_row)
{
    *out_row = (testing_row){.line = line};
    for (size_t i = 0; i < TESTING_MAX_COLUMNS; i++) {
        out_row->columns[i] = text;
        text += strcspn(text, "\t");
        if (*text == '\t')
            *text++ = '\0';
    }
}

/* Reads cases/NAME, without comments and empty lines; the test fails when it cannot. The caller
 * frees it with testing_table_free. */
static inline testing_table testing_table_read(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/cases/%s", FERRULE_TEST_DATA, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    testing_table table = {.data = calloc((size_t)size + 1, 1)};
    assert_non_null(table.data);
    assert_int_equal(fread(table.data, 1, (size_t)size, file), size);
    fclose(file);

    size_t num_lines = 1;
    for (const char *p = table.data; *p != '\0'; p++)
        num_lines += *p == '\n';
    table.rows = calloc(num_lines, sizeof *table.rows);
    assert_non_null(table.rows);
    char *text = table.data;
    for (size_t line = 1; line <= num_lines; line++) {
        char *end = text + strcspn(text, "\n");
        char *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        if (*text != '\0' && *text != '#')
            testing_split_row(text, line, &table.rows[table.num_rows++]);
        text = next;
    }
    return table;
}

static inline void testing_table_free(testing_table *table)
{
    free(table->rows);
    free(table->data);
    *table = (testing_table){0};
}

/* The status with this name ("ZERO_DIVISION"); the test fails when there is none. */
static inline fer_status testing_status(const char *name)
{
    for (fer_status status = FER_OK; status <= FER_UNSUPPORTED_ERROR; status++)
        if (strcmp(fer_status_name(status), name) == 0)
            return status;
    fail_msg("%s is no kind of error", name);
    return FER_OK;
}

#endif
