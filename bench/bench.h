/* Paired measurements: the floor and what stands beside it take turns within one run, so that a
 * slow moment of the machine falls on all of them. */
#ifndef FERRULE_BENCH_H
#define FERRULE_BENCH_H

#include <stddef.h>
#include <stdio.h>

/* Does the work `count` times. */
typedef void (*bench_work)(void *context, size_t count);

typedef struct bench_case {
    const char *name;
    bench_work work;
    void *context;
    double *samples; /* ns for one, a sample a round; filled by bench_run */
} bench_case;

/* Runs the cases in turn for `num_rounds` rounds of `count` repetitions each. Case 0 is the floor.
 * Prints minimum, median and the median of the paired difference to the floor, and the ratio of the
 * medians; appends every sample to `raw` as `table, case, round, ns`. `per` divides: how many units
 * of work one repetition is (nodes of a graph). */
void bench_run(const char *table, bench_case *cases, size_t num_cases, size_t num_rounds,
               size_t count, double per, FILE *raw);

double bench_now_ns(void);
double bench_median(double *samples, size_t num_samples); /* sorts them */

/* Prints the message and leaves with status 1: a benchmark that cannot run has no figures. */
_Noreturn void bench_fail(const char *message);

void bench_calls(FILE *raw);
void bench_graphs(FILE *raw);
void bench_memory(FILE *raw);
void bench_declarations(FILE *raw, const char *program, const char *scratch_folder);
/* What a process of bench_declarations does: declares warm, calls once; prints the declaration's
 * us. */
int bench_declare_once(const char *package);

#endif
