/* One model, many threads, each with sizes of its own. */
#include "testing_graph.h"

#include <pthread.h>

enum { NUM_THREADS = 24, NUM_RUNS = 50 }; /* more threads than a model keeps states for */

typedef struct task {
    const fer_model *model;
    float start;
    size_t num_wrong;
} task;

/* Inputs of `count` elements from `start` up; y = 4 x + x for those above 0, and x doubled. */
static bool run_once(const task *task, size_t count)
{
    float values[64];
    for (size_t i = 0; i < count; i++)
        values[i] = task->start + (float)i;
    fer_tensor *outputs[2] = {NULL, NULL};
    int64_t extent = (int64_t)count;
    fer_tensor *x = NULL;
    if (fer_tensor_copy_from(FER_F32, 1, &extent, values, (fer_device){0}, &x, NULL) != FER_OK)
        return false;
    bool is_right = fer_model_run(task->model, &x, 1, outputs, 2, NULL) == FER_OK;
    size_t next = 0;
    for (size_t i = 0; is_right && i < count; i++) {
        is_right = ((const float *)fer_tensor_const_data(outputs[1]))[i] == 2 * values[i];
        if (is_right && values[i] > 0)
            is_right = ((const float *)fer_tensor_const_data(outputs[0]))[next++] == 5 * values[i];
    }
    is_right = is_right && fer_tensor_num_elements(outputs[0]) == (int64_t)next;
    fer_tensor_release(outputs[0]);
    fer_tensor_release(outputs[1]);
    fer_tensor_release(x);
    return is_right;
}

static void *run_many(void *context)
{
    task *task = context;
    for (size_t i = 0; i < NUM_RUNS; i++)
        task->num_wrong += !run_once(task, 1 + (i * 7) % 64);
    return NULL;
}

static void many_threads_run_one_model(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    fer_module *module = NULL;
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_module_parse("use \"kernels/graph\"\n"
                                       "graph g(x: f32[n]) {\n"
                                       "  doubled = twice(x)\n"
                                       "  a = twice(doubled)\n"
                                       "  yes = constant bool[] [true]\n"
                                       "  b = if yes { s = add(a, x) yield s } else { yield a }\n"
                                       "  kept = positive(b)\n"
                                       "  one, no = while one = kept, go = yes { yield go } do {\n"
                                       "    no = constant bool[] [false]\n"
                                       "    same = scale(one, 1)\n"
                                       "    yield same, no }\n"
                                       "  return one, doubled }",
                                       "t.fer", FERRULE_TEST_DATA, &module, &error));
    ASSERT_OK(&error, fer_model_create(fer_module_graph_at(module, 0), NULL, &model, &error));
    fer_module_release(module);
    pthread_t threads[NUM_THREADS];
    task tasks[NUM_THREADS];
    for (size_t i = 0; i < NUM_THREADS; i++) {
        tasks[i] = (task){.model = model, .start = (float)i - 20};
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &tasks[i]), 0);
    }
    for (size_t i = 0; i < NUM_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(tasks[i].num_wrong, 0);
    }
    fer_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_run_one_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
