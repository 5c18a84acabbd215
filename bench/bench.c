#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *samples, size_t num_samples)
{
    qsort(samples, num_samples, sizeof *samples, compare_doubles);
    return samples[num_samples / 2];
}

_Noreturn void bench_fail(const char *message)
{
    fprintf(stderr, "bench: %s\n", message);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        bench_fail("out of memory");
    return memory;
}

static void print_row(const bench_case *row, const bench_case *floor, size_t num_rounds,
                      double floor_median)
{
    double *differences = allocate(num_rounds, sizeof *differences);
    double *sorted = allocate(num_rounds, sizeof *sorted);
    for (size_t i = 0; i < num_rounds; i++)
        differences[i] = row->samples[i] - floor->samples[i];
    memcpy(sorted, row->samples, num_rounds * sizeof *sorted);
    double median = bench_median(sorted, num_rounds);
    printf("  %-44s %11.1f %11.1f %11.1f %8.2f\n", row->name, sorted[0], median,
           bench_median(differences, num_rounds), median / floor_median);
    free(sorted);
    free(differences);
}

void bench_run(const char *table, bench_case *cases, size_t num_cases, size_t num_rounds,
               size_t count, double per, FILE *raw)
{
    for (size_t i = 0; i < num_cases; i++) {
        cases[i].samples = allocate(num_rounds, sizeof *cases[i].samples);
        cases[i].work(cases[i].context, count); /* warm */
    }
    for (size_t round = 0; round < num_rounds; round++)
        for (size_t i = 0; i < num_cases; i++) {
            double start = bench_now_ns();
            cases[i].work(cases[i].context, count);
            cases[i].samples[round] = (bench_now_ns() - start) / (double)count / per;
            fprintf(raw, "%s\t%s\t%zu\t%.3f\n", table, cases[i].name, round,
                    cases[i].samples[round]);
        }
    double *sorted = allocate(num_rounds, sizeof *sorted);
    memcpy(sorted, cases[0].samples, num_rounds * sizeof *sorted);
    double floor_median = bench_median(sorted, num_rounds);
    free(sorted);
    printf("%s\n  %-44s %11s %11s %11s %8s\n", table, "ns", "minimum", "median", "over floor",
           "ratio");
    for (size_t i = 0; i < num_cases; i++)
        print_row(&cases[i], &cases[0], num_rounds, floor_median);
    printf("\n");
    for (size_t i = 0; i < num_cases; i++)
        free(cases[i].samples);
}

/* bench FOLDER: figures on stdout, every sample in FOLDER/raw.tsv; FOLDER also holds the scratch
 * packages and caches. */
int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--nothing") == 0)
        return 0;
    if (argc == 3 && strcmp(argv[1], "--declare-once") == 0)
        return bench_declare_once(argv[2]);
    if (argc != 2) {
        fprintf(stderr, "usage: bench FOLDER\n");
        return 2;
    }
    char path[4096];
    mkdir(argv[1], 0777);
    snprintf(path, sizeof path, "%s/cache", argv[1]);
    setenv("FERRULE_CACHE_DIR", path, 1);
    snprintf(path, sizeof path, "%s/raw.tsv", argv[1]);
    FILE *raw = fopen(path, "w");
    if (raw == NULL)
        bench_fail("cannot write raw.tsv");
    fprintf(raw, "table\tcase\tround\tns\n");
    bench_calls(raw);
    bench_graphs(raw);
    bench_memory(raw);
    bench_declarations(raw, argv[0], argv[1]);
    fclose(raw);
    printf("every sample: %s\n", path);
    return 0;
}
