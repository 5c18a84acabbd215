/* ferrule verify: calls a package's kernels with operands made of their declarations, and says what
 * they do that they must not. Each kernel runs in a process of its own, so that one that dies takes
 * nothing with it. */
#include "cli/verify.h"

#include "base/lexer.h"
#include "base/process.h"
#include "cli/cli.h"
#include "package/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(int argc, char **argv);

static const struct option OPTIONS[] = {{"case", required_argument, NULL, 'c'},
                                        {"quick", no_argument, NULL, 'q'},
                                        {"timeout", required_argument, NULL, 't'},
                                        FER_HELP_OPTION,
                                        {0}};

const fer_subcommand fer_command_verify = {
    .name = "verify",
    .arguments = "[--quick] [--timeout SECONDS] [--case NUMBER] [--] PACKAGE [KERNEL]",
    .summary = "look for faults in a package's kernels",
    .help =
        "\nCalls each kernel, or only KERNEL, with many operands that its SIGNATURE allows, and\n"
        "tells of accesses out of bounds, results that are not written, operands that are but are\n"
        "not inout, bits that differ between runs or numbers of threads, undefined behaviour,\n"
        "crashes and loops without end. A kernel that fails with a message of its own has no "
        "fault.\n"
        "KERNEL may be a whole declaration.\n"
        "--quick    only the parameters' own values and one dtype of each variable\n"
        "--timeout  how many seconds of work one case may take, 10 without it\n"
        "--case     only the case of that number\n"
        "Exit code 1: there are faults.\n",
    .letters = ":hqc:t:",
    .options = OPTIONS,
    .run = run,
};

typedef struct settings {
    const char *package;
    const char *kernel; /* a name or a declaration, or NULL */
    bool is_quick;
    bool has_case;
    size_t case_index;
    unsigned timeout;
} settings;

/* --- Lines ------------------------------------------------------------------------------------ */

/* Cuts the lines of addr2line, from the innermost out, down to the author's first one. */
static bool read_place(char *output, fer_fault *fault)
{
    for (char *line = strtok(output, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *colon = strrchr(line, ':');
        int number = colon == NULL ? 0 : atoi(colon + 1);
        if (number == 0 || strstr(line, "include/ferrule/") != NULL)
            continue;
        *colon = '\0';
        while (strncmp(line, "./", 2) == 0)
            line += 2;
        snprintf(fault->file, sizeof fault->file, "%s", line);
        fault->line = number;
        return true;
    }
    return false;
}

static bool find_place(const char *library, uintptr_t address, fer_fault *fault)
{
    static const char *const PROGRAMS[] = {"addr2line", "llvm-addr2line"};
    char text[32];
    snprintf(text, sizeof text, "%#zx", (size_t)address);
    for (size_t i = 0; address != 0 && i < sizeof PROGRAMS / sizeof *PROGRAMS; i++) {
        const char *const argv[] = {PROGRAMS[i], "-i", "-e", library, text, NULL};
        fer_process_result result;
        if (fer_process_run(argv, NULL, &result, NULL, NULL) != FER_OK)
            continue;
        bool is_found = read_place(result.output, fault);
        free(result.output);
        if (is_found)
            return true;
    }
    return false;
}

/* --- Running ---------------------------------------------------------------------------------- */

/* What a process that ended early says of the case it was at. */
static void note_end(const fer_cases *cases, int state, int output, fer_findings *findings)
{
    const fer_case a_case = fer_cases_at(cases, findings->current);
    fer_findings_read_output(findings, &a_case, output);
    fer_fault *death = &findings->death;
    if (findings->has_died) {
        const fer_library *library = a_case.choice->specialisation->library;
        bool is_found = find_place(fer_library_path(library), findings->address, death);
        fer_findings_add(findings, &a_case, death->kind, is_found ? death->file : NULL, death->line,
                         "%s", death->what);
    } else if (findings->num_reports > 0) {
        return; /* a sanitizer of this process's own may end it after its report */
    } else if (WIFSIGNALED(state)) {
        fer_findings_add(findings, &a_case, FER_CRASH, NULL, 0, "signal %d ends the process",
                         WTERMSIG(state));
    } else {
        fer_findings_add(findings, &a_case, FER_CRASH, NULL, 0, "it ends the process");
    }
}

/* Runs the cases in other processes, going on behind one that ended its process. */
static fer_status run_cases(const fer_cases *cases, const settings *s, int output,
                            fer_findings *findings, fer_error *error)
{
    enum { MAX_DEATHS = 5 };
    size_t count = fer_cases_count(cases);
    size_t next = s->has_case ? s->case_index : 0;
    const size_t end = s->has_case ? next + 1 : count;
    bool is_endless = false;
    for (int i = 0; i < MAX_DEATHS && next < end && !is_endless; i++) {
        findings->has_died = false;
        findings->address = 0;
        fflush(NULL);
        pid_t process = fork();
        if (process < 0)
            return fer_fail(error, FER_IO_ERROR, "cannot start a process: %s", strerror(errno));
        if (process == 0)
            fer_verify_run(cases, next, end - 1, s->timeout, output, findings);
        int state = 0;
        while (waitpid(process, &state, 0) < 0 && errno == EINTR)
            continue;
        if (findings->is_done)
            break;
        note_end(cases, state, output, findings);
        is_endless = findings->has_died && findings->death.kind == FER_ENDLESS;
        next = findings->current + 1;
    }
    return FER_OK;
}

/* --- Telling ---------------------------------------------------------------------------------- */

static const char *const KINDS[] = {
    [FER_OUT_OF_BOUNDS] = "out of bounds",
    [FER_NOT_WRITTEN] = "not written",
    [FER_OPERAND_WRITTEN] = "operand written",
    [FER_DIFFERENT_BITS] = "different bits",
    [FER_UNDEFINED_BEHAVIOUR] = "undefined behaviour",
    [FER_CRASH] = "crash",
    [FER_ENDLESS] = "endless",
    [FER_WRONG_EXTENT] = "wrong extent",
    [FER_NO_COMPILE] = "does not compile",
};

static void print_fault(const fer_cases *cases, const settings *s, const char *kernel,
                        const char *package_path, const fer_fault *fault)
{
    const bool is_absolute = fault->file[0] == '/';
    if (fault->file[0] == '\0') /* of a kernel that does not say where it is written */
        printf("  %s: %s\n", KINDS[fault->kind], fault->what);
    else
        printf("  %s%s%s:%d: %s: %s\n", is_absolute ? "" : package_path, is_absolute ? "" : "/",
               fault->file, fault->line, KINDS[fault->kind], fault->what);
    if (!fault->has_case)
        return;
    const fer_case a_case = fer_cases_at(cases, fault->case_index);
    fer_arguments command = {0};
    fer_text text = FER_TEXT_INIT;
    fer_case_append(&text, &a_case);
    fer_text_append(&text, "\n    ");
    fer_arguments_add(&command, "ferrule");
    fer_arguments_add(&command, "verify");
    fer_arguments_add(&command, "%s", s->package);
    fer_arguments_add(&command, "%s", kernel);
    fer_arguments_add(&command, "--case");
    fer_arguments_add(&command, "%zu", fault->case_index);
    fer_arguments_print(&command, &text);
    printf("    with %s\n", fer_text_string(&text));
    fer_text_free(&text);
    fer_arguments_clear(&command);
}

static void print_findings(const fer_cases *cases, const settings *s, const fer_kernel_info *kernel,
                           const char *package_path, const fer_findings *findings)
{
    printf("%s: ", kernel->name);
    if (findings->num_faults > 0)
        printf("%zu fault%s in ", findings->num_faults, findings->num_faults == 1 ? "" : "s");
    printf("%zu case%s", findings->num_cases, findings->num_cases == 1 ? "" : "s");
    if (findings->num_refused > 0 && findings->num_refused == findings->num_cases)
        printf(", every one refused: %s", findings->refusal);
    else if (findings->num_refused > 0)
        printf(", %zu refused", findings->num_refused);
    if (fer_cases_count(cases) == 0)
        printf(": no sizes were found that its declaration allows");
    putchar('\n');
    for (size_t i = 0; i < findings->num_faults; i++)
        print_fault(cases, s, s->kernel != NULL ? s->kernel : kernel->name, package_path,
                    &findings->faults[i]);
    fflush(stdout);
}

/* --- One kernel ------------------------------------------------------------------------------- */

static void note_refusals(const fer_cases *cases, const fer_kernel_info *kernel,
                          fer_findings *findings)
{
    for (size_t i = 0; i < cases->num_choices; i++) {
        const fer_case_choice *choice = &cases->choices[i];
        if (choice->specialisation == NULL)
            fer_findings_add(findings, NULL, FER_NO_COMPILE, kernel->file, kernel->line, "%.*s",
                             (int)strcspn(choice->refusal, "\n"), choice->refusal);
    }
}

/* Takes the op. */
static fer_status verify_op(fer_op *op, const settings *s, const fer_kernel_info *kernel,
                            const char *package_path, size_t *num_faults, fer_error *error)
{
    fer_cases cases;
    FER_TRY(fer_cases_make(op, s->is_quick, &cases, error));
    fer_status status = FER_OK;
    int output = memfd_create("ferrule-verify", MFD_CLOEXEC);
    fer_findings *findings =
        mmap(NULL, sizeof *findings, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (output < 0 || findings == MAP_FAILED) {
        status = fer_fail_memory(error);
        goto done;
    }
    if (s->has_case && s->case_index >= fer_cases_count(&cases)) {
        status = fer_fail(error, FER_VALUE_ERROR, "%s: there is no case %zu; there are %zu, from 0",
                          kernel->name, s->case_index, fer_cases_count(&cases));
        goto done;
    }
    FER_TRY_DONE(run_cases(&cases, s, output, findings, error));
    note_refusals(&cases, kernel, findings);
    print_findings(&cases, s, kernel, package_path, findings);
    *num_faults += findings->num_faults;

done:
    if (output >= 0)
        close(output);
    if (findings != MAP_FAILED)
        munmap(findings, sizeof *findings);
    fer_cases_clear(&cases);
    return status;
}

/* What the line of a MAP says. A KERNEL's says nothing of sizes: then it is NULL. */
static fer_status derive(const fer_package *package, const char *kernel, char **out_text,
                         fer_error *error)
{
    fer_library *library = NULL;
    *out_text = NULL;
    FER_TRY(fer_library_open(package, kernel, NULL, 0, NULL, 0, &library, error));
    const fer_abi_entry *entry = fer_library_kernel(library);
    fer_text text = FER_TEXT_INIT;
    fer_status status = FER_OK;
    for (uint32_t i = 1; entry->kind == FER_ABI_MAP && i <= entry->num_tensors; i++) {
        const bool is_result = i == entry->num_tensors;
        const fer_abi_tensor *tensor = &entry->tensors[is_result ? 0 : i];
        const fer_dl_dtype dtype = tensor->dtype;
        if (is_result)
            fer_text_append(&text, ") -> ");
        else
            fer_text_printf(&text, "%s%s%s: ", i == 1 ? kernel : "", i == 1 ? "(" : ", ",
                            tensor->name);
        fer_text_printf(&text, "%s[*s]",
                        fer_dtype_name(fer_dtype_from_dlpack(dtype.code, dtype.bits, 1)));
    }
    if (entry->kind == FER_ABI_MAP)
        status = fer_text_take(&text, out_text, error);
    fer_library_release(library);
    return status;
}

static fer_status declare(const fer_package *package, const settings *s,
                          const fer_kernel_info *kernel, fer_op **out_op, fer_error *error)
{
    fer_declaration declaration = {.packages = {fer_package_path(package)}};
    char *derived = NULL;
    if (s->kernel != NULL && !fer_is_name(s->kernel)) {
        declaration.signature = s->kernel;
    } else if (kernel->signature != NULL) {
        declaration.kernel = kernel->name;
    } else {
        FER_TRY(derive(package, kernel->name, &derived, error));
        declaration.signature = derived;
        if (derived == NULL)
            return fer_fail(error, FER_UNSUPPORTED_ERROR,
                            "%s: %s has no SIGNATURE for it, and its KERNEL line does not say how "
                            "its sizes belong together; give the declaration in place of the name",
                            kernel->name, kernel->file);
    }
    fer_status status = fer_declare(&declaration, out_op, error);
    free(derived);
    return status;
}

/* Verifies a kernel, and prints what there is to say. An error is one that ends the whole. */
static fer_status verify_kernel(const fer_package *package, const settings *s,
                                const fer_kernel_info *kernel, size_t *num_faults, fer_error *error)
{
    fer_op *op = NULL;
    fer_error refusal = FER_ERROR_INIT;
    fer_status status = declare(package, s, kernel, &op, &refusal);
    if (status == FER_OK)
        status = verify_op(op, s, kernel, fer_package_path(package), num_faults, &refusal);
    if (status == FER_OK || status == FER_MEMORY_ERROR || s->kernel != NULL)
        return fer_error_move(error, &refusal);
    const size_t length = strlen(kernel->name);
    const char *why = refusal.message;
    if (strncmp(why, kernel->name, length) == 0 && strncmp(why + length, ": ", 2) == 0)
        why += length + 2;
    const bool is_fault = status != FER_UNSUPPORTED_ERROR;
    *num_faults += is_fault;
    printf("%s: %s: %.*s\n", kernel->name, is_fault ? fer_status_name(status) : "not verified",
           (int)strcspn(why, "\n"), why);
    fer_error_clear(&refusal);
    return FER_OK;
}

/* The kernel that a name or a declaration is of. */
static fer_status find_kernel(const fer_package *package, const char *text,
                              fer_kernel_info *out_kernel, fer_error *error)
{
    fer_signature *signature = NULL;
    const char *name = text;
    if (!fer_is_name(text)) {
        FER_TRY(fer_signature_parse(text, &signature, error));
        name = fer_signature_folded(signature)->name;
    }
    fer_status status = FER_OK;
    if (!fer_package_find(package, name, out_kernel)) {
        /* Says what there is, and what may have been meant. */
        fer_op *op = NULL;
        status =
            fer_declare(&(fer_declaration){.kernel = name, .packages = {fer_package_path(package)}},
                        &op, error);
        fer_op_release(op);
    }
    fer_signature_release(signature);
    return status;
}

static fer_status verify_package(const settings *s, size_t *num_faults, fer_error *error)
{
    fer_package *package = NULL;
    FER_TRY(fer_package_open(s->package, &package, error));
    fer_status status = FER_OK;
    if (s->kernel != NULL) {
        fer_kernel_info kernel = {0};
        FER_TRY_DONE(find_kernel(package, s->kernel, &kernel, error));
        status = verify_kernel(package, s, &kernel, num_faults, error);
        goto done;
    }
    for (size_t i = 0; i < fer_package_num_kernels(package); i++) {
        const fer_kernel_info kernel = fer_package_kernel(package, i);
        FER_TRY_DONE(verify_kernel(package, s, &kernel, num_faults, error));
    }

done:
    fer_package_release(package);
    return status;
}

/* A whole number from 0 on. */
static bool read_count(const char *text, size_t *out_count)
{
    char *end;
    errno = 0;
    *out_count = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static int run(int argc, char **argv)
{
    const fer_subcommand *command = &fer_command_verify;
    settings s = {.timeout = 10};
    int option = 0;
    while ((option = fer_next_option(command, argc, argv)) >= 0) {
        size_t count = 0;
        if (option == 'q')
            s.is_quick = true;
        else if (!read_count(optarg, &count) || (option == 't' && (count == 0 || count > 86400)))
            return fer_misuse(command, "--%s takes a number, not '%s'",
                              option == 't' ? "timeout" : "case", optarg);
        if (option == 't')
            s.timeout = (unsigned)count;
        if (option == 'c') {
            s.has_case = true;
            s.case_index = count;
        }
    }
    if (option != FER_OPTIONS_END)
        return fer_options_exit(option);
    if (optind == argc)
        return fer_misuse(command, "PACKAGE is missing");
    if (optind + 2 < argc)
        return fer_misuse(command, "one KERNEL at a time; '%s' is too many", argv[optind + 2]);
    s.package = argv[optind];
    s.kernel = argv[optind + 1];
    if (s.has_case && s.kernel == NULL)
        return fer_misuse(command, "--case needs a KERNEL");
    fer_progress_start();
    fer_verify_prepare();
    fer_error error = FER_ERROR_INIT;
    size_t num_faults = 0;
    fer_status status = verify_package(&s, &num_faults, &error);
    if (status != FER_OK)
        return fer_finish(status, &error);
    return num_faults > 0 ? FER_EXIT_FAILED : 0;
}
