#include "package/flags.h"

#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "package/ini.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What words are judged for, and where messages say they stand. */
typedef struct judge {
    const char *folder;
    const char *name; /* FOLDER/package.ini */
    const char *from; /* who wrote the words: "cflags has" */
    fer_flags *flags;
    fer_error *error;
} judge;

static fer_status refuse(const judge *j, const fer_ini_word *word, const char *reason)
{
    return fer_fail(j->error, FER_VALUE_ERROR, "%s:%d: %s '%s', which %s", j->name, word->line,
                    j->from, word->text, reason);
}

/* --- Flags ------------------------------------------------------------------------------------ */

static bool begins(const char *word, const char *start)
{
    return strncmp(word, start, strlen(start)) == 0;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool begins_with_one_of(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (begins(word, *list))
            return true;
    return false;
}

/* What changes the value of floating point that the source says, or, linked, the mode that the
 * whole process computes in. Contraction alone is the author's to choose: it is one rounding less.
 */
static bool is_unsafe_math(const char *word)
{
    static const char *const WORDS[] = {"-ffast-math",
                                        "-Ofast",
                                        "-funsafe-math-optimizations",
                                        "-fassociative-math",
                                        "-freciprocal-math",
                                        "-ffinite-math-only",
                                        "-fno-signed-zeros",
                                        "-fcx-limited-range",
                                        "-fapprox-func",
                                        "-fno-honor-nans",
                                        "-fno-honor-infinities",
                                        "-ffp-model=fast",
                                        "-ffp-model=aggressive",
                                        "-mdaz-ftz",
                                        "-mpc32",
                                        "-mpc64",
                                        NULL};
    static const char *const STARTS[] = {"-mrecip", "-fdenormal-fp-math", NULL};
    return is_one_of(word, WORDS) || begins_with_one_of(word, STARTS);
}

#define UNSAFE_MATH                                                                                \
    "lets the compiler drop NaN, infinities and signed zeros or add in another order, so that a "  \
    "call would not give the same bits everywhere; leave it out (-ffp-contract=fast and "          \
    "-fno-trapping-math may stand here, and `#pragma omp simd reduction` in a loop)"
#define UNSEEN_FILE                                                                                \
    "names a file that is read without the cache's knowing, so that an edit of it would not count"

/* Options whose argument may stand behind a blank, and then takes the next word. */
static const char *const INCLUDES[] = {"-isystem", "-iquote", "-idirafter", "-I", NULL};
static const char *const WITH_ARGUMENT[] = {"-D", "-U", "-include", "-imacros", NULL};

static void add_include(fer_flags *flags, const char *option, const char *folder)
{
    fer_arguments_add(&flags->includes, "%s", option);
    fer_arguments_add(&flags->includes, "%s", folder);
}

/* Judges the compiler's word at `*index`, and steps over a second that belongs to it. */
static fer_status take_cflag(const judge *j, const fer_ini_value *value, size_t *index)
{
    static const char *const ALLOWED[] = {"-D",    "-U",       "-include",  "-imacros", "-f",
                                          "-m",    "-W",       "-w",        "-O",       "-g",
                                          "-std=", "-pthread", "-pedantic", NULL};
    static const char *const UNSEEN[] = {
        "@", "-fplugin", "-fprofile-use", "-fauto-profile", "-specs=", "-B", "-Wp,", "-Wa,", NULL};
    const fer_ini_word *word = &value->words[*index];
    bool is_last = *index + 1 == value->count;
    bool takes_next = is_one_of(word->text, INCLUDES) || is_one_of(word->text, WITH_ARGUMENT);
    if (is_unsafe_math(word->text))
        return refuse(j, word, UNSAFE_MATH);
    if (begins_with_one_of(word->text, UNSEEN))
        return refuse(j, word, UNSEEN_FILE);
    if (begins(word->text, "-Wl,"))
        return refuse(j, word, "is the linker's: it stands in libs");
    if (takes_next && is_last)
        return refuse(j, word, "needs something behind it");
    for (size_t i = 0; INCLUDES[i] != NULL; i++)
        if (begins(word->text, INCLUDES[i])) {
            const char *joined = word->text + strlen(INCLUDES[i]);
            add_include(j->flags, INCLUDES[i], takes_next ? value->words[++*index].text : joined);
            return FER_OK;
        }
    if (!begins_with_one_of(word->text, ALLOWED))
        return refuse(j, word,
                      "is no flag that a package can give its compiler; those are -D, -U, -I, "
                      "-include, -f..., -m..., -O..., -W..., -g and -std=");
    fer_arguments_add(&j->flags->cflags, "%s", word->text);
    if (takes_next)
        fer_arguments_add(&j->flags->cflags, "%s", value->words[++*index].text);
    return FER_OK;
}

static fer_status add_absolute(const judge *j, const char *option, const char *path)
{
    char *absolute = NULL;
    FER_TRY(fer_path_join(j->folder, path, &absolute, j->error));
    fer_arguments_add(&j->flags->libs, "%s%s", option, absolute);
    /* A library that is found there when a kernel is linked is found there when it is loaded. */
    if (strcmp(option, "-L") == 0) {
        fer_arguments_add(&j->flags->libs, "-Xlinker");
        fer_arguments_add(&j->flags->libs, "-rpath");
        fer_arguments_add(&j->flags->libs, "-Xlinker"); /* a comma may be in the path */
        fer_arguments_add(&j->flags->libs, "%s", absolute);
    }
    free(absolute);
    return FER_OK;
}

/* The same for the linker's words. */
static fer_status take_lib(const judge *j, const fer_ini_value *value, size_t *index)
{
    static const char *const ALLOWED[] = {"-l",       "-Wl,",           "-pthread",
                                          "-fopenmp", "-flto",          "-fsanitize",
                                          "-fuse-ld", "-static-libgcc", NULL};
    const fer_ini_word *word = &value->words[*index];
    bool takes_next = strcmp(word->text, "-L") == 0 || strcmp(word->text, "-l") == 0;
    if (is_unsafe_math(word->text))
        return refuse(j, word, UNSAFE_MATH);
    if (begins(word->text, "@") || begins(word->text, "-Wl,@"))
        return refuse(j, word, UNSEEN_FILE);
    if (word->text[0] == '\0' || (takes_next && *index + 1 == value->count))
        return refuse(j, word, "needs something behind it");
    if (word->text[0] != '-')
        return add_absolute(j, "", word->text);
    const char *argument = takes_next ? value->words[++*index].text : word->text + 2;
    if (begins(word->text, "-L"))
        return add_absolute(j, "-L", argument);
    if (!begins_with_one_of(word->text, ALLOWED))
        return refuse(j, word,
                      "is nothing that a package can give its linker; that is -l, -L, -Wl,..., "
                      "-pthread, -fopenmp and files");
    if (takes_next)
        fer_arguments_add(&j->flags->libs, "-l%s", argument);
    else
        fer_arguments_add(&j->flags->libs, "%s", word->text);
    return FER_OK;
}

/* --- pkg-config ------------------------------------------------------------------------------- */

static void prepare_question(const fer_ini_value *names, fer_arguments *question)
{
    const char *program = getenv("PKG_CONFIG");
    bool is_given = program != NULL && program[strspn(program, " ")] != '\0';
    fer_arguments_add_words(question, is_given ? program : "pkg-config");
    fer_arguments_add(question, "--cflags");
    fer_arguments_add(question, "--libs");
    for (size_t i = 0; i < names->count; i++)
        fer_arguments_add(question, "%s", names->words[i].text);
}

/* Its own words follow, without the newlines at their end. */
static fer_status fail_unknown(const judge *j, const fer_ini *ini, const char *program,
                               const char *output)
{
    const fer_ini_value *install = &ini->values[FER_INI_INSTALL];
    fer_text what = FER_TEXT_INIT;
    for (size_t i = 0; i < install->count; i++)
        fer_text_printf(&what, "%s%s", i == 0 ? "" : " ", install->words[i].text);
    if (install->count == 0)
        fer_text_append(&what, "the packages to develop with");
    size_t length = strlen(output);
    while (length > 0 && output[length - 1] == '\n')
        length--;
    fer_status status = fer_fail(
        j->error, FER_COMPILE_ERROR,
        "%s:%d: %s does not know all that it is asked for; install %s, or name the folder of the "
        ".pc files in PKG_CONFIG_PATH\n%.*s",
        j->name, ini->values[FER_INI_PKG_CONFIG].line, program, fer_text_string(&what), (int)length,
        output);
    fer_text_free(&what);
    return status;
}

static fer_status ask(const judge *j, const fer_ini *ini, char **out_answer)
{
    const fer_ini_value *names = &ini->values[FER_INI_PKG_CONFIG];
    fer_arguments question = {0};
    fer_process_result result = {0};
    int cause = 0;
    *out_answer = NULL;
    prepare_question(names, &question);
    if (question.has_failed) {
        fer_arguments_clear(&question);
        return fer_fail_memory(j->error);
    }
    fer_status status =
        fer_process_run((const char *const *)question.items, NULL, &result, &cause, j->error);
    if (status == FER_IO_ERROR && (cause == ENOENT || cause == EACCES))
        status = fer_fail(j->error, FER_COMPILE_ERROR,
                          "%s:%d: there is no '%s' to ask; install it (on Debian: apt install "
                          "pkg-config) or set PKG_CONFIG to one",
                          j->name, names->line, question.items[0]);
    if (status == FER_OK && result.exit_code != 0)
        status = fail_unknown(j, ini, question.items[0], result.output);
    fer_arguments_clear(&question);
    if (status == FER_OK)
        *out_answer = result.output;
    else
        free(result.output);
    return status;
}

/* Its answer has the compiler's and the linker's words side by side. */
static fer_status take_answered(const judge *j, const fer_ini_value *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const char *word = answer->words[i].text;
        bool is_lib =
            begins(word, "-l") || begins(word, "-L") || begins(word, "-Wl,") || word[0] != '-';
        if (strcmp(word, "-pthread") == 0)
            fer_arguments_add(&j->flags->libs, "%s", word);
        FER_TRY(is_lib ? take_lib(j, answer, &i) : take_cflag(j, answer, &i));
    }
    return FER_OK;
}

static fer_status ask_pkg_config(const judge *j, const fer_ini *ini)
{
    const fer_ini_value *names = &ini->values[FER_INI_PKG_CONFIG];
    char *answer = NULL;
    fer_ini_value words = {0};
    for (size_t i = 0; i < names->count; i++)
        if (names->words[i].text[0] == '-' || names->words[i].text[0] == '\0')
            return refuse(j, &names->words[i], "is no name of a package for pkg-config");
    FER_TRY(ask(j, ini, &answer));
    judge answered = *j;
    answered.from = "pkg-config gives";
    fer_status status = fer_ini_split(answer, j->name, names->line, &words, j->error);
    if (status == FER_OK)
        status = take_answered(&answered, &words);
    free(answer);
    fer_ini_value_clear(&words);
    return status;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static fer_status take_all(judge *j, const fer_ini *ini)
{
    const fer_ini_value *cflags = &ini->values[FER_INI_CFLAGS];
    const fer_ini_value *libs = &ini->values[FER_INI_LIBS];
    j->from = "cflags has";
    for (size_t i = 0; i < cflags->count; i++)
        FER_TRY(take_cflag(j, cflags, &i));
    j->from = "libs has";
    for (size_t i = 0; i < libs->count; i++)
        FER_TRY(take_lib(j, libs, &i));
    j->from = "pkg-config has";
    if (ini->values[FER_INI_PKG_CONFIG].count > 0)
        FER_TRY(ask_pkg_config(j, ini));
    const fer_flags *flags = j->flags;
    bool has_failed =
        flags->cflags.has_failed || flags->includes.has_failed || flags->libs.has_failed;
    return has_failed ? fer_fail_memory(j->error) : FER_OK;
}

static fer_status take_text(judge *j, const char *text, size_t size)
{
    fer_ini ini;
    if (strlen(text) != size)
        return fer_fail(j->error, FER_VALUE_ERROR, "%s: it is text, and this holds a byte 0",
                        j->name);
    FER_TRY(fer_ini_parse(text, j->name, &ini, j->error));
    fer_status status = take_all(j, &ini);
    fer_ini_clear(&ini);
    return status;
}

fer_status fer_flags_read(const char *folder, fer_flags *out_flags, fer_error *error)
{
    fer_flags flags = {0};
    *out_flags = flags;
    char *path = NULL;
    char *text = NULL;
    size_t size = 0;
    FER_TRY(fer_path_join(folder, FER_INI_FILE, &path, error));
    judge j = {.folder = folder, .name = path, .flags = &flags, .error = error};
    fer_status status = FER_OK;
    if (access(path, F_OK) == 0)
        status = fer_file_read(path, &text, &size, error);
    if (text != NULL)
        status = take_text(&j, text, size);
    if (status == FER_OK)
        *out_flags = flags;
    else
        fer_flags_clear(&flags);
    free(text);
    free(path);
    return status;
}

void fer_flags_clear(fer_flags *flags)
{
    fer_arguments_clear(&flags->cflags);
    fer_arguments_clear(&flags->includes);
    fer_arguments_clear(&flags->libs);
}

bool fer_flags_is_empty(const fer_flags *flags)
{
    return flags->cflags.count + flags->includes.count + flags->libs.count == 0;
}

void fer_flags_hash(const fer_flags *flags, fer_hasher *hasher)
{
    const fer_arguments *const all[] = {&flags->cflags, &flags->includes, &flags->libs};
    for (size_t i = 0; i < 3; i++) {
        fer_hasher_string(hasher, "flags");
        for (size_t j = 0; j < all[i]->count; j++)
            fer_hasher_string(hasher, all[i]->items[j]);
    }
}
