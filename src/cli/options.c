#include "base/lexer.h"
#include "base/text.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

const struct option FER_ONLY_HELP[] = {FER_HELP_OPTION, {0}};

static void print_usage(FILE *file, const fer_subcommand *command)
{
    fprintf(file, "usage: ferrule %s %s\n", command->name, command->arguments);
}

int fer_misuse(const fer_subcommand *command, const char *format, ...)
{
    fprintf(stderr, "ferrule %s: ", command->name);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    print_usage(stderr, command);
    return FER_EXIT_MISUSE;
}

static void refuse_option(const fer_subcommand *command, const char *argument)
{
    enum { MAX_OPTIONS = 16 };
    const char *names[MAX_OPTIONS];
    size_t num_names = 0;
    for (; command->options[num_names].name != NULL && num_names < MAX_OPTIONS; num_names++)
        names[num_names] = command->options[num_names].name;
    char name[64] = "";
    if (strncmp(argument, "--", 2) == 0)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    const char *near = fer_near_name(name, names, num_names);
    if (near != NULL)
        fer_misuse(command, "unknown option '%s'; did you mean '--%s'?", argument, near);
    else
        fer_misuse(command, "unknown option '%s' (a value that starts with '-' goes after '--')",
                   argument);
}

int fer_next_option(const fer_subcommand *command, int argc, char **argv)
{
    opterr = 0;
    int place = optind;
    int letter = getopt_long(argc, argv, command->letters, command->options, NULL);
    switch (letter) {
    case -1:
        return FER_OPTIONS_END;
    case 'h':
        print_usage(stdout, command);
        printf("\n%s\n%s", command->summary, command->help);
        return FER_OPTIONS_HELP;
    case ':':
        fer_misuse(command, "%s needs a value", argv[optind - 1]);
        return FER_OPTIONS_BAD;
    case '?':
        /* A cluster of letters is one argument, which getopt has not left yet. */
        refuse_option(command, argv[optind > place ? optind - 1 : optind]);
        return FER_OPTIONS_BAD;
    default:
        return letter;
    }
}

int fer_options_exit(int option)
{
    return option == FER_OPTIONS_HELP ? 0 : FER_EXIT_MISUSE;
}

bool fer_has_no_options(const fer_subcommand *command, int argc, char **argv, int *out_exit)
{
    int option = fer_next_option(command, argc, argv);
    *out_exit = option == FER_OPTIONS_END ? 0 : fer_options_exit(option);
    return option == FER_OPTIONS_END;
}

/* Both lines set in. */
static void print_excerpt(const char *excerpt)
{
    const char *mark = excerpt == NULL ? NULL : strchr(excerpt, '\n');
    if (mark != NULL)
        fprintf(stderr, "  %.*s\n  %s\n", (int)(mark - excerpt), excerpt, mark + 1);
}

int fer_finish(fer_status status, fer_error *error)
{
    if (status == FER_OK)
        return 0;
    fflush(stdout);
    fprintf(stderr, "ferrule: %s: %s\n", fer_status_name(status), error->message);
    print_excerpt(fer_error_excerpt(error));
    fer_error_clear(error);
    return FER_EXIT_FAILED;
}

void fer_print_counters(void)
{
    fer_counters counters = fer_read_counters();
    fer_memory_figures memory = fer_memory_read();
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"compiles", counters.compiles},         {"cache hits", counters.cache_hits},
        {"cache misses", counters.cache_misses}, {"bindings", counters.bindings},
        {"bytes in use", memory.bytes_in_use},   {"bytes idle", memory.bytes_idle},
        {"blocks reused", memory.num_reused},    {"blocks fresh", memory.num_fresh},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(stderr, "%-13s  %llu\n", rows[i].name, (unsigned long long)rows[i].value);
}

bool fer_is_pair(const char *argument)
{
    const char *equals = strchr(argument, '=');
    if (equals == NULL || equals == argument)
        return false;
    fer_lexer lexer;
    fer_lexer_start(&lexer, argument, NULL, false);
    return lexer.token.kind == FER_TOKEN_NAME && lexer.token.start == argument &&
           lexer.token.start + lexer.token.length == equals;
}

void fer_split_pair(char *pair, const char **out_name, const char **out_value)
{
    char *equals = strchr(pair, '=');
    *equals = '\0';
    *out_name = pair;
    *out_value = equals + 1;
}
