/* ferrule list: the kernels of a package. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static int run(int argc, char **argv);

const fer_subcommand fer_command_list = {
    .name = "list",
    .arguments = "[--] PACKAGE",
    .summary = "print the kernels of a package",
    .help = "\nPACKAGE is a folder of C files, `std` or `blas`. Each kernel is one line: its\n"
            "declaration, or its name when the package does not declare it, then a tab, its\n"
            "file and its line.\n",
    .letters = ":h",
    .options = FER_ONLY_HELP,
    .run = run,
};

/* As its author wrote it, but for where its lines end. */
static void print_on_one_line(const char *declaration)
{
    while (*declaration != '\0') {
        size_t length = strcspn(declaration, "\t\n\v\f\r");
        fwrite(declaration, 1, length, stdout);
        declaration += length;
        if (*declaration != '\0')
            putchar(' ');
        declaration += strspn(declaration, " \t\n\v\f\r");
    }
}

static int run(int argc, char **argv)
{
    int code = 0;
    if (!fer_has_no_options(&fer_command_list, argc, argv, &code))
        return code;
    if (optind == argc)
        return fer_misuse(&fer_command_list, "PACKAGE is missing");
    if (optind + 1 < argc)
        return fer_misuse(&fer_command_list, "one PACKAGE at a time; '%s' is too many",
                          argv[optind + 1]);
    fer_error error = FER_ERROR_INIT;
    fer_package *package = NULL;
    fer_status status = fer_package_open(argv[optind], &package, &error);
    size_t num_kernels = status == FER_OK ? fer_package_num_kernels(package) : 0;
    for (size_t i = 0; i < num_kernels; i++) {
        fer_kernel_info kernel = fer_package_kernel(package, i);
        print_on_one_line(kernel.signature != NULL ? kernel.signature : kernel.name);
        printf("\t%s", kernel.file);
        if (kernel.line > 0) /* a shared object need not tell */
            printf(":%d", kernel.line);
        putchar('\n');
    }
    fer_package_release(package);
    return fer_finish(status, &error);
}
