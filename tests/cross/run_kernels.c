/* run_kernels OBJECT: calls kernels of the standard package, built for another processor into one
 * shared object, without the library, which is not linked there. */
#include <dlfcn.h>
#include <ferrule/abi.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 100003, SHORT = 70 };

static const fer_abi_table *table;
static float a[LARGE], b[LARGE], y[LARGE], once[LARGE];

/* Calls the kernel of that name over f32[size]; what fails ends the program. */
static void run(const char *name, float *result, int64_t size, uint32_t num_threads,
                int num_operands)
{
    const fer_dl_dtype f32 = {.code = 2, .bits = 32, .lanes = 1};
    fer_dl_tensor tensors[3] = {
        {.data = result, .ndim = 1, .dtype = f32, .shape = &size},
        {.data = a, .ndim = 1, .dtype = f32, .shape = &size},
        {.data = b, .ndim = 1, .dtype = f32, .shape = &size},
    };
    const fer_dl_tensor *const pointers[] = {&tensors[0], &tensors[1], &tensors[2]};
    fer_context context = {.struct_bytes = sizeof context, .num_threads = num_threads};
    for (const fer_abi_entry *const *entry = table->begin; entry < table->end; entry++)
        if (*entry != NULL && strcmp((*entry)->name, name) == 0 &&
            (*entry)->num_tensors == 1 + (uint32_t)num_operands &&
            (*entry)->run(&context, pointers) == 0)
            return;
    fprintf(stderr, "%s: no such kernel, or it failed\n", name);
    exit(1);
}

static void check(bool is_right, const char *name, int64_t size, int64_t i)
{
    if (is_right)
        return;
    fprintf(stderr, "%s: element %lld of %lld is %a\n", name, (long long)i, (long long)size, y[i]);
    exit(1);
}

static void check_all(int64_t size, uint32_t num_threads)
{
    run("add", y, size, num_threads, 2);
    for (int64_t i = 0; i < size; i++)
        check(y[i] == a[i] + b[i], "add", size, i);
    run("exp", y, size, num_threads, 1);
    for (int64_t i = 0; i < size; i++)
        check(fabsf(y[i] / expf(a[i]) - 1) < 1e-6F, "exp", size, i);
    check(memcmp(y, once, (size_t)size * sizeof *y) == 0, "exp, in its last bits", size, 0);
    run("cumsum", y, size, num_threads, 1);
    double sum = 0;
    for (int64_t i = 0; i < size; i++)
        check(y[i] == (float)(sum += (double)a[i]), "cumsum", size, i);
}

int main(int argc, char **argv)
{
    void *object = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = object == NULL ? NULL : dlsym(object, FER_ABI_TABLE_SYMBOL);
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: run_kernels OBJECT");
        return 1;
    }
    fer_abi_table_function function;
    memcpy(&function, &symbol, sizeof function);
    table = function();
    for (int i = 0; i < LARGE; i++) {
        a[i] = (float)(i % 1000 - 500) * 0.013F;
        b[i] = (float)i / 7;
    }
    run("exp", once, LARGE, 1, 1);
    for (int64_t size = 0; size < SHORT; size++)
        check_all(size, 1);
    check_all(LARGE, 1);
    check_all(LARGE, 3);
    printf("%d kernels, of which three ran\n", (int)(table->end - table->begin));
    return 0;
}
