/* The interpreter's cost of a node over the node's kernel, when sizes repeat; and building. */
#include "bench.h"

#include "op/op.h"
#include <ferrule/model.h>

#define NUM_NODES 64

static const char SOURCE[] = "#include <ferrule/kernel.h>\n"
                             "KERNEL(next, OUT(f32, 1, y), IN(f32, 1, x))\n"
                             "{\n"
                             "    AT(y, 0) = AT(x, 0) + 1;\n"
                             "    return OK;\n"
                             "}\n";

typedef struct graphs {
    fer_op *op;
    fer_model *model;
    fer_tensor *values[NUM_NODES + 1];
    fer_error error;
} graphs;

static void run_kernels(void *context, size_t count)
{
    graphs *g = context;
    fer_context kernel_context = {.struct_bytes = sizeof kernel_context, .num_threads = 1};
    fer_kernel_function volatile run = ((fer_specialisation *)g->op->specialisations)->run;
    for (size_t i = 0; i < count; i++)
        for (size_t node = 0; node < NUM_NODES; node++) {
            const fer_dl_tensor *tensors[2] = {&g->values[node + 1]->dl, &g->values[node]->dl};
            if (run(&kernel_context, tensors) != 0)
                bench_fail("the kernel failed");
        }
}

static void run_eagerly(void *context, size_t count)
{
    graphs *g = context;
    for (size_t i = 0; i < count; i++)
        for (size_t node = 0; node < NUM_NODES; node++)
            if (fer_call_into(g->op, &g->values[node], 1, &g->values[node + 1], 1, &g->error) !=
                FER_OK)
                bench_fail(g->error.message);
}

static void run_model(void *context, size_t count)
{
    graphs *g = context;
    for (size_t i = 0; i < count; i++) {
        fer_tensor *y;
        if (fer_model_run(g->model, g->values, 1, &y, 1, &g->error) != FER_OK)
            bench_fail(g->error.message);
        fer_tensor_release(y);
    }
}

/* A chain of nodes, in a module that the caller releases, also when it fails. */
static fer_status build_chain(graphs *g, size_t num_nodes, fer_module **out_module,
                              fer_graph **out_graph)
{
    fer_type *type = NULL;
    fer_status status = fer_module_create(out_module, &g->error);
    if (status == FER_OK)
        status = fer_type_parse("f32[n]", &type, &g->error);
    if (status == FER_OK)
        status =
            fer_graph_create(*out_module, "chain", &(fer_graph_input){.name = "x", .type = type}, 1,
                             out_graph, &g->error);
    fer_value *value = status == FER_OK ? fer_graph_input_at(*out_graph, 0) : NULL;
    for (size_t i = 0; status == FER_OK && i < num_nodes; i++) {
        fer_value *operand = value;
        status = fer_graph_stage(*out_graph, g->op, &operand, 1, &value, 1, &g->error);
    }
    if (status == FER_OK)
        status = fer_graph_output(*out_graph, &value, 1, &g->error);
    fer_type_release(type);
    return status;
}

static void build_many(graphs *g, size_t count, size_t num_nodes)
{
    for (size_t i = 0; i < count; i++) {
        fer_module *module = NULL;
        fer_graph *graph;
        if (build_chain(g, num_nodes, &module, &graph) != FER_OK)
            bench_fail(g->error.message);
        fer_module_release(module);
    }
}

static void build_thousand(void *context, size_t count)
{
    build_many(context, count, 1000);
}

static void build_ten_thousand(void *context, size_t count)
{
    build_many(context, count, 10000);
}

static fer_status build(graphs *g, fer_module **out_module)
{
    fer_graph *graph = NULL;
    fer_status status =
        fer_declare(&(fer_declaration){.signature = "next(x: f32[n]) -> f32[n]", .source = SOURCE},
                    &g->op, &g->error);
    if (status == FER_OK)
        status = build_chain(g, NUM_NODES, out_module, &graph);
    if (status == FER_OK)
        status = fer_model_create(graph, "interpret", &g->model, &g->error);
    for (size_t i = 0; status == FER_OK && i <= NUM_NODES; i++)
        status =
            fer_tensor_ones(FER_F32, 1, (int64_t[]){4}, (fer_device){0}, &g->values[i], &g->error);
    return status;
}

void bench_graphs(FILE *raw)
{
    graphs g = {.error = FER_ERROR_INIT};
    fer_module *module = NULL;
    if (build(&g, &module) != FER_OK)
        bench_fail(g.error.message);
    bench_case cases[] = {
        {.name = "floor: the kernels themselves", .work = run_kernels, .context = &g},
        {.name = "fer_model_run, interpreter", .work = run_model, .context = &g},
        {.name = "fer_call_into, one by one", .work = run_eagerly, .context = &g},
    };
    bench_run("graph of 64 nodes, f32[4], a node", cases, sizeof cases / sizeof *cases, 301, 200,
              NUM_NODES, raw);
    bench_case thousand = {.name = "staged and verified", .work = build_thousand, .context = &g};
    bench_case more = {.name = "staged and verified", .work = build_ten_thousand, .context = &g};
    bench_run("building a graph of 1,000 nodes, a node", &thousand, 1, 21, 10, 1000, raw);
    bench_run("building a graph of 10,000 nodes, a node", &more, 1, 21, 1, 10000, raw);
    for (size_t i = 0; i <= NUM_NODES; i++)
        fer_tensor_release(g.values[i]);
    fer_model_release(g.model);
    fer_module_release(module);
    fer_op_release(g.op);
}
