/* The passes: what each changes and what it must leave alone. Each case is a graph, as text without
 * tokens, and what is left of its steps. */
#include "testing_graph.h"

#include "graph/passes.h"

/* The module after the passes up to that one. */
static fer_module *after(const char *pass_name, const char *text)
{
    fer_error error = FER_ERROR_INIT;
    const fer_pass *pass;
    fer_module *module = NULL;
    fer_text program = FER_TEXT_INIT;
    fer_text_printf(&program, "use \"kernels/graph\" use \"std\"\n%s", text);
    fer_module *original = read_program(fer_text_string(&program));
    fer_text_free(&program);
    ASSERT_OK(&error, fer_pass_find(pass_name, &pass, &error));
    ASSERT_OK(&error, fer_module_after(original, pass, &module, &error));
    fer_module_release(original);
    return module;
}

/* A value that left an arm has no name. */
static const char *name_of(const fer_value *value)
{
    return value->name == NULL ? "_" : value->name;
}

/* Appends `twice(a) `, `constant `, `if{…}{…} `: kinds and operands, by the values' names. */
static void append_steps(fer_text *text, const fer_block *block)
{
    static const char *const KINDS[] = {
        [FER_NODE_OP] = "",
        [FER_NODE_CONSTANT] = "constant",
        [FER_NODE_REBIND] = "rebind",
        [FER_NODE_RESHAPE] = "reshape",
        [FER_NODE_TRANSFER] = "transfer",
        [FER_NODE_IF] = "if",
        [FER_NODE_WHILE] = "while",
        [FER_NODE_CALL] = "call ",
    };
    for (size_t i = 0; i < block->num_nodes; i++) {
        const fer_node *node = block->nodes[i];
        fer_text_append(text, KINDS[node->kind]);
        fer_text_append(text, node->kind == FER_NODE_OP     ? node->op->name
                              : node->kind == FER_NODE_CALL ? node->callee->name
                                                            : "");
        for (size_t j = 0; j < node->num_operands; j++)
            fer_text_printf(text, "%c%s", j == 0 ? '(' : ',', name_of(node->operands[j]));
        fer_text_append(text, node->num_operands > 0 ? ")" : "");
        for (size_t j = 0; j < 2 && node->blocks[j] != NULL; j++) {
            fer_text_append(text, "{ ");
            append_steps(text, node->blocks[j]);
            fer_text_append_char(text, '}');
        }
        fer_text_append_char(text, ' ');
    }
}

/* The steps of the last graph after a pass, whose outputs are called so. */
static void assert_steps(const char *pass, const char *program, const char *steps,
                         const char *outputs)
{
    fer_module *module = after(pass, program);
    const fer_graph *graph = fer_module_graph_at(module, fer_module_num_graphs(module) - 1);
    fer_text text = FER_TEXT_INIT;
    append_steps(&text, &graph->body);
    assert_string_equal(fer_text_string(&text), steps);
    fer_text_free(&text);
    for (size_t i = 0; i < graph->num_outputs; i++)
        fer_text_printf(&text, "%s%s", i == 0 ? "" : ",", name_of(graph->outputs[i]));
    assert_string_equal(fer_text_string(&text), outputs);
    fer_text_free(&text);
    fer_module_release(module);
}

static const fer_tensor *last_constant(const fer_graph *graph)
{
    const fer_node *node = graph->body.nodes[graph->body.num_nodes - 1];
    assert_int_equal(node->kind, FER_NODE_CONSTANT);
    return node->constant;
}

/* --- fold ------------------------------------------------------------------------------------- */

#define TWO "k = constant f32[2] [1, -2] "

static void ops_on_constants_become_constants(void **state)
{
    (void)state;
    fer_module *module = after("fold", "graph g() { " TWO "a = twice(k) b = add(a, k) return b }");
    const fer_graph *graph = fer_module_graph_at(module, 0);
    assert_int_equal(graph->body.num_nodes, 3);
    ASSERT_FLOATS(last_constant(graph), 3, -6);
    fer_module_release(module);
    assert_steps("fold", "graph g() { " TWO "l, h = halves(k) return h, l }",
                 "constant constant constant ", "h,l");
    assert_steps("fold",
                 "graph g(x: f32[2], c: bool[]) { " TWO
                 "y = if c { a = twice(k) yield a } else { b = add(x, k) yield b } return y }",
                 "constant if(c){ constant }{ add(x,k) } ", "y");
    assert_steps("fold",
                 "graph f(x: f32[2]) { " TWO "a = twice(k) s = add(x, a) return s }\n"
                 "graph g(x: f32[2]) { y = call f(x) return y }",
                 "call f(x) ", "y");
    module = after("fold", "graph f(x: f32[2]) { " TWO "a = twice(k) s = add(x, a) return s }\n"
                           "graph g(x: f32[2]) { y = call f(x) return y }");
    graph = fer_module_graph_at(module, 1)->body.nodes[0]->callee;
    assert_ptr_equal(graph, fer_module_graph_at(module, 0));
    assert_int_equal(graph->body.nodes[1]->kind, FER_NODE_CONSTANT);
    fer_module_release(module);
}

/* A constant is where it was moved to. */
static void transfers_of_constants_become_constants(void **state)
{
    (void)state;
    const char *text = "graph g() { " TWO "f = transfer k @ 1 a = twice(f) return f, a }";
    assert_steps("fold", text, "constant constant constant ", "f,a");
    fer_module *module = after("fold", text);
    const fer_graph *graph = fer_module_graph_at(module, 0);
    assert_string_equal(fer_type_text(graph->outputs[1]->type), "f32[2] @ 1");
    ASSERT_FLOATS(last_constant(graph), 2, -4);
    assert_int_equal(fer_tensor_device(last_constant(graph)).id, 1);
    fer_module_release(module);
    assert_steps("fold",
                 "graph g(x: f32[2]) { " TWO "accumulate(k, x) f = transfer k @ 1 return f }",
                 "constant accumulate(k,x) transfer(k) ", "f");
}

static void what_is_not_always_the_same_is_not_folded(void **state)
{
    (void)state;
    assert_steps("fold", "graph g(x: f32[2]) { " TWO "a = add(k, x) return a }",
                 "constant add(k,x) ", "a");
    /* What an op changes is no constant, before or after; what is computed of one may change. */
    assert_steps("fold",
                 "graph g() { " TWO "a = twice(k) accumulate(k, a) b = twice(k) return a, b }",
                 "constant twice(k) accumulate(k,a) twice(k) ", "a,b");
    assert_steps("fold", "graph g() { " TWO "a = twice(k) accumulate(a, k) b = twice(a) return b }",
                 "constant constant accumulate(a,k) twice(a) ", "b");
    /* Data-dependent, asserted, carried, failing, and unused. */
    assert_steps("fold", "graph g() { " TWO "a = positive(k) return a }", "constant positive(k) ",
                 "a");
    assert_steps("fold", "graph g() { " TWO "r = rebind k [n] a = twice(r) return a }",
                 "constant rebind(k) twice(r) ", "a");
    assert_steps("fold",
                 "graph g(j: i64[]) { " TWO
                 "s, i = while s = k, i = j { c = is_positive(i) yield c }"
                 " do { t = twice(s) n = count_down(i) yield t, n } return s }",
                 "constant while(k,j){ is_positive(i) }{ twice(s) count_down(i) } ", "s");
    assert_steps("fold", "graph g() { " TWO "a = refuse_negative(k) return a }",
                 "constant refuse_negative(k) ", "a");
    assert_steps("fold", "graph g(x: f32[2]) { " TWO "a = twice(k) return x }",
                 "constant twice(k) ", "x");
}

static void an_effect_on_constants_is_not_folded(void **state)
{
    (void)state;
    long count = 0;
    fer_text program = FER_TEXT_INIT;
    fer_text_printf(&program,
                    "graph g() { at = constant i64[] [%lld] y = count_call(at) return y }",
                    (long long)(intptr_t)&count);
    fer_model *model = make_model(fer_text_string(&program));
    fer_text_free(&program);
    assert_int_equal(count, 0);
    for (int turn = 1; turn < 4; turn++) {
        fer_tensor *y = NULL;
        run(model, NULL, 0, &y, 1);
        assert_int_equal(count, turn);
        fer_tensor_release(y);
    }
    fer_model_release(model);
}

static void large_constants_are_not_folded(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    static const struct {
        int64_t extent;
        fer_node_kind kind;
    } CASES[] = {{8192, FER_NODE_CONSTANT}, {8193, FER_NODE_OP}}; /* 64 KiB in and out */
    for (size_t i = 0; i < 2; i++) {
        fer_module *module = make_module();
        fer_graph *graph = make_graph(module, "g", TYPES(NULL));
        fer_op *twice = declare_op("twice(x: f32[*s]) -> f32[*s]");
        fer_tensor *zeros = NULL;
        fer_value *value = NULL;
        ASSERT_OK(&error,
                  fer_tensor_zeros(FER_F32, 1, &CASES[i].extent, (fer_device){0}, &zeros, &error));
        ASSERT_OK(&error, fer_graph_constant(graph, zeros, &value, &error));
        output(graph, stage_one(graph, twice, value, NULL), NULL);
        fer_module *folded = NULL;
        ASSERT_OK(&error, fer_module_after(module, &fer_pass_fold, &folded, &error));
        assert_int_equal(fer_module_graph_at(folded, 0)->body.nodes[1]->kind, CASES[i].kind);
        fer_tensor_release(zeros);
        fer_op_release(twice);
        fer_module_release(folded);
        fer_module_release(module);
    }
}

/* --- fold, control flow ----------------------------------------------------------------------- */

#define YES "yes = constant bool[] [true] "
#define NO "no = constant bool[] [false] "

static void the_arm_that_is_always_taken_stands_for_the_if(void **state)
{
    (void)state;
    assert_steps("fold",
                 "graph g(x: f32[n]) { " YES
                 "y = if yes { a = twice(x) b = add(a, x) yield b } else { yield x }"
                 " z = twice(y) return z }",
                 "constant twice(x) add(_,x) twice(_) ", "z");
    assert_steps(
        "fold",
        "graph g(x: f32[n], inout b: f32[n]) { " NO
        "y, z = if no { yield x, x } else { accumulate(b, x) t = transfer x @ 0 yield x, t }"
        " return y, z, y }",
        "constant accumulate(b,x) transfer(x) ", "x,_,x");
    /* The predicate, and what depends on the result, are folded on the way. */
    assert_steps("fold",
                 "graph g() { k = constant i64[] [3] c = is_positive(k)"
                 " y = if c { l = count_down(k) yield l } else { yield k } z = count_down(y)"
                 " return z }",
                 "constant constant constant constant ", "z");
    /* In each other, and in other blocks. */
    assert_steps("fold",
                 "graph g(x: f32[n], c: bool[]) { " YES NO
                 "y = if yes { z = if no { yield x } else { a = twice(x) yield a }"
                 " b = add(z, x) yield b } else { yield x }"
                 " w = if c { d = if yes { p = differences(x) yield x } else { yield y }"
                 " e = twice(d) yield e } else { yield x } return y, w }",
                 "constant constant twice(x) add(_,x) if(c){ differences(x) twice(x) }{ } ", "_,w");
}

static void blocks_in_an_arm_go_with_it(void **state)
{
    (void)state;
    assert_steps("fold",
                 "graph g(x: f32[n], inout b: f32[n], c: bool[]) { " YES
                 "if yes { if c { d = differences(x) accumulate(b, x) }"
                 " y = while s = x { yield c } do { e = differences(s) t = twice(s) yield t }"
                 " accumulate(b, y) } return b }",
                 "constant if(c){ differences(x) accumulate(b,x) }{ } "
                 "while(x){ }{ differences(s) twice(s) } accumulate(b,_) ",
                 "b");
    /* An if with results and a call have sizes of their own. */
    assert_steps("fold",
                 "graph g(x: f32[n], c: bool[]) { " YES
                 "y = if yes { z = if c { yield x } else { yield x } yield x } else { yield x }"
                 " return y }",
                 "constant if(yes){ if(c){ }{ } }{ } ", "y");
    const char *call = "graph f(x: f32[n]) { y = differences(x) return y }"
                       "graph g(x: f32[n], c: bool[]) { " YES
                       "if yes { y = call f(x) } if c { if yes { y = call f(x) } } return x }";
    assert_steps("fold", call, "constant if(yes){ call f(x) }{ } if(c){ call f(x) }{ } ", "x");
}

/* The steps of an arm are checked for sizes when it is reached; names of dims may come again. */
static void an_arm_that_would_fail_elsewhere_stays(void **state)
{
    (void)state;
    assert_steps(
        "fold",
        "graph g(x: f32[n]) { " YES
        "y = if yes { a = differences(x) b = twice(x) yield b } else { yield x } return y }",
        "constant if(yes){ differences(x) twice(x) }{ } ", "y");
    assert_steps("fold",
                 "graph g(x: f32[n], c: bool[]) { " YES
                 "if c { if yes { a = differences(x) count = twice(a) } } return x }",
                 "constant if(c){ differences(x) twice(_) }{ } ", "x");
    assert_steps(
        "fold",
        "graph g(x: f32[n]) { " YES
        "y = if yes { p = positive(x) r = rebind p [m] s = twice(r) q = rebind s [n] yield q }"
        " else { yield x } z = rebind x [m] return z, y }",
        "constant if(yes){ positive(x) rebind(p) twice(r) rebind(s) }{ } rebind(x) ", "z,y");
    assert_steps(
        "fold",
        "graph g(x: f32[n], c: bool[]) { " YES
        "if c { if yes { r = rebind x [4] t = twice(r) } if yes { q = rebind x [m] }"
        " if yes { p = positive(x) } if yes { z = if c { yield x } else { yield x } } }"
        " return x }",
        "constant if(c){ rebind(x) twice(_) if(yes){ rebind(x) }{ } if(yes){ positive(x) }{ } "
        "if(yes){ if(c){ }{ } }{ } }{ } ",
        "x");
    /* One that fits every size can stand anywhere, if its dims do. */
    assert_steps("fold",
                 "graph g(x: f32[h, w]) { " YES "y = if yes { r = reshape x [w, 1, h] yield r }"
                 " else { r = reshape x [w, 1, h] yield r }"
                 " z = if yes { r = reshape x [2, -1] yield r }"
                 " else { r = reshape x [2, -1] yield r }"
                 " v = if yes { r = reshape x [-1] yield r }"
                 " else { r = reshape x [-1] yield r } return y, z, v }",
                 "constant reshape(x) if(yes){ reshape(x) }{ reshape(x) } "
                 "if(yes){ reshape(x) }{ reshape(x) } ",
                 "_,z,v");
    /* What is changed in its place, here or behind, is a value of its own. */
    assert_steps("fold",
                 "graph g(x: f32[n]) { " YES "y = if yes { yield x } else { yield x }"
                 " accumulate(y, x) return x, y }",
                 "constant if(yes){ }{ } accumulate(y,x) ", "x,y");
    assert_steps("fold",
                 "graph g(inout b: f32[n], x: f32[n]) { " YES
                 "y = if yes { yield b } else { yield b }"
                 " accumulate(b, x) return y, b }",
                 "constant if(yes){ }{ } accumulate(b,x) ", "y,b");
}

static void a_loop_that_never_turns_gives_its_initial_values(void **state)
{
    (void)state;
    assert_steps("fold",
                 "graph g(x: f32[n], i: i64[]) { y, j = while s = x, k = i {"
                 " zero = constant i64[] [0] c = is_positive(zero) yield c }"
                 " do { t = twice(s) l = count_down(k) yield t, l } z = twice(y) return z, j, y }",
                 "twice(x) ", "z,i,x");
    assert_steps("fold",
                 "graph g(x: f32[n]) { " NO "y = while s = x { yield no } do { yield s }"
                 " accumulate(y, x) return x, y }",
                 "constant while(x){ }{ } accumulate(y,x) ", "x,y");
    assert_steps("fold",
                 "graph g(x: f32[n]) { " YES
                 "y = while s = x { yield yes } do { t = twice(s) yield t }"
                 " return y }",
                 "constant while(x){ }{ twice(s) } ", "y");
    /* The condition has run once: what it does besides stays, and so does what may fail in it. */
    assert_steps("fold",
                 "graph g(x: f32[n], at: i64[]) { " NO
                 "y = while s = x { a = count_call(at) yield no } do { yield s } return y }",
                 "constant while(x){ count_call(at) }{ } ", "y");
    assert_steps("fold",
                 "graph g(x: f32[n]) { " NO
                 "y = while s = x { a = refuse_negative(s) yield no } do { yield a } return y }",
                 "constant while(x){ refuse_negative(s) }{ } ", "y");
}

/* Names that ended with the arm come again behind it, and places are those of the program. */
static void what_left_an_arm_reads_back_and_fails_in_its_place(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    const char *text = "graph g(x: f32[n]) {\n"
                       "  " YES "y = if yes { k = twice(x)\n"
                       "    l = refuse_negative(k) yield l } else { yield x }\n"
                       "  k = positive(y) l = twice(k)\n"
                       "  return l, y }";
    char *printed = NULL;
    fer_module *module = after("fold", text);
    ASSERT_OK(&error, fer_module_print(module, &printed, &error));
    fer_module *again = read_program(printed);
    assert_true(fer_module_equal(module, again));
    assert_non_null(strstr(printed, "__dyn_g_positive_2_kept_"));
    free(printed);
    fer_module_release(again);
    fer_module_release(module);
    fer_model *model = make_model(text);
    fer_tensor *x = FLOATS(1, 0, 2), *outputs[2];
    run(model, &x, 1, outputs, 2);
    ASSERT_FLOATS(outputs[0], 4, 8);
    ASSERT_FLOATS(outputs[1], 2, 0, 4);
    fer_tensor_release(x);
    fer_tensor_release(outputs[0]);
    fer_tensor_release(outputs[1]);
    x = FLOATS(-1);
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, &x, 1, outputs, 2, &error),
                 "t.fer:4:9: graph 'g': refuse_negative: ");
    fer_tensor_release(x);
    fer_model_release(model);
}

/* --- common ----------------------------------------------------------------------------------- */

static void what_was_computed_is_not_computed_again(void **state)
{
    (void)state;
    assert_steps("common",
                 "graph g(x: f32[n]) { a = twice(x) b = twice(x) c = add(a, b) d = add(b, a)"
                 " return a, b, c, d }",
                 "twice(x) add(a,a) ", "a,a,c,c");
    assert_steps("common",
                 "graph g(x: f32[n]) { l, h = halves(x) m, i = halves(x) return l, i, m }",
                 "halves(x) ", "l,h,l");
    assert_steps("common",
                 "graph g(x: f32[2]) { p = constant f32[2] [1, 2] q = constant f32[2] [1, 2]"
                 " a = add(x, p) b = add(x, q) return a, b }",
                 "constant add(x,p) ", "a,a");
    assert_steps("common",
                 "graph g(x: f32[2]) { p = constant f32[2] [0, 1] q = constant f32[2] [-0.0, 1]"
                 " a = add(x, p) b = add(x, q) return a, b }",
                 "constant constant add(x,p) add(x,q) ", "a,b");
    assert_steps("common",
                 "graph g(x: f32[n]) { a = every<g = 3>(x) b = every<g = 2>(x) c = every<g = 3>(x)"
                 " return a, b, c }",
                 "every(x) every(x) ", "a,b,a");
    assert_steps("common",
                 "graph g(x: f32[n], y: f32[n]) { a = add(x, y) b = add(y, x) return a, b }",
                 "add(x,y) add(y,x) ", "a,b");
}

static void a_transfer_is_shared_like_an_op(void **state)
{
    (void)state;
    assert_steps("common",
                 "graph g(x: f32[n]) { a = transfer x @ 1 b = transfer x @ 1 c = transfer x @ 0"
                 " return a, b, c }",
                 "transfer(x) transfer(x) ", "a,a,c");
    assert_steps("common",
                 "graph g(x: f32[n]) { a = transfer x @ 0 b = transfer x @ 0 accumulate(b, x)"
                 " return a, b }",
                 "transfer(x) transfer(x) accumulate(b,x) ", "a,b");
    assert_steps("common",
                 "graph g(inout x: f32[n], y: f32[n]) { a = transfer x @ 1 accumulate(x, y)"
                 " b = transfer x @ 1 return a, b }",
                 "transfer(x) accumulate(x,y) transfer(x) ", "a,b");
    /* The same bytes on another device are another constant. */
    assert_steps("common",
                 "graph g() { a = constant f32[1] [2] b = constant f32[1] @ 1 [2]"
                 " c = constant f32[1] @ 1 [2] return a, b, c }",
                 "constant constant ", "a,b,b");
    assert_steps("dead", "graph g(x: f32[n]) { a = transfer x @ 1 b = transfer x @ 1 return b }",
                 "transfer(x) ", "b");
}

static void blocks_see_what_is_around_them_and_not_beside(void **state)
{
    (void)state;
    assert_steps("common",
                 "graph g(x: f32[n], c: bool[]) { a = twice(x)"
                 " y = if c { b = twice(x) d = add(b, x) yield d }"
                 " else { d = add(x, x) e = if c { i = add(x, x) yield i } else { yield x }"
                 " s = add(d, e) yield s }"
                 " d = add(x, x) s = add(a, d) t = add(s, y) return t }",
                 "twice(x) if(c){ add(a,x) }{ add(x,x) if(c){ }{ } add(d,e) } add(x,x) add(a,d) "
                 "add(s,y) ",
                 "t");
    /* A loop's body sees its condition; the next turn's values are others. */
    assert_steps("common",
                 "graph g(x: f32[], k: f32[]) {"
                 " s = while s = x { n = twice(s) c = less(n, k) yield c }"
                 " do { m = twice(s) yield m }"
                 " n = twice(s) return n }",
                 "while(x){ twice(s) less(n,k) }{ } twice(s) ", "n");
}

static void what_is_changed_or_has_an_effect_is_not_shared(void **state)
{
    (void)state;
    assert_steps("common",
                 "graph g(inout b: f32[n], x: f32[n]) { p = twice(b) accumulate(b, x) q = twice(b)"
                 " return p, q }",
                 "twice(b) accumulate(b,x) twice(b) ", "p,q");
    assert_steps("common",
                 "graph g(x: f32[n]) { p = twice(x) q = twice(x) accumulate(q, x) return p, q }",
                 "twice(x) twice(x) accumulate(q,x) ", "p,q");
    assert_steps(
        "common",
        "graph g(inout b: f32[n], x: f32[n]) { r = rebind b [n] p = twice(r) accumulate(b, x)"
        " q = twice(r) return p, q }",
        "rebind(b) twice(r) accumulate(b,x) twice(r) ", "p,q");
    assert_steps(
        "common",
        "graph g(inout b: f32[n], x: f32[n]) { accumulate(b, x) accumulate(b, x) return b }",
        "accumulate(b,x) accumulate(b,x) ", "b");
    assert_steps("common", "graph g(k: i64[]) { a = count_call(k) b = count_call(k) return a, b }",
                 "count_call(k) count_call(k) ", "a,b");
    assert_steps("common",
                 "graph f(inout b: f32[n], x: f32[n]) { accumulate(b, x) return }\n"
                 "graph g(inout b: f32[n], x: f32[n]) { p = twice(b) call f(b, x) q = twice(b) "
                 "return p, q }",
                 "twice(b) call f(b,x) twice(b) ", "p,q");
    assert_steps("common", "graph g(x: f32[n]) { a = positive(x) b = positive(x) return a, b }",
                 "positive(x) positive(x) ", "a,b");
}

/* What is loaded is memory of its own, as it was at that time. */
static void a_load_is_shared_only_where_nothing_is_written(void **state)
{
    (void)state;
    assert_steps("common",
                 "graph g(inout b: f32[n], x: f32[n]) { p = load(b) store(b, x) q = load(b)"
                 " r = load(b) return p, q, r }",
                 "load(b) store(b,x) load(b) load(b) ", "p,q,r");
    assert_steps("common", "graph g(x: f32[n]) { p = load(x) q = load(x) store(q, p) return p, q }",
                 "load(x) load(x) store(q,p) ", "p,q");
    assert_steps("common",
                 "graph g(x: f32[n]) { p = load(x) q = load(x) r = rebind q [n] accumulate(r, x)"
                 " return p, q }",
                 "load(x) load(x) rebind(q) accumulate(r,x) ", "p,q");
    assert_steps("common", "graph g(x: f32[n]) { p = load(x) q = load(x) return p, q }", "load(x) ",
                 "p,p");
    assert_steps("fold", "graph g(x: f32[2]) { " TWO "p = load(k) store(p, x) return k, p }",
                 "constant constant store(p,x) ", "k,p");
    assert_steps("dead",
                 "graph g(inout b: f32[n], x: f32[n]) { p = load(b) store(b, x) q = load(b)"
                 " return q }",
                 "store(b,x) load(b) ", "q");
}

/* An op that no run reaches must not fail, or crash, in place of one that a run may reach. */
static void what_does_not_run_serves_nothing(void **state)
{
    (void)state;
    const char *text = "graph g(x: f32[n], c: bool[]) { a = refuse_negative(x)"
                       " y = if c { b = refuse_negative(x) yield b } else { yield x } return y }";
    assert_steps("common", text, "refuse_negative(x) if(c){ refuse_negative(x) }{ } ", "y");
    assert_steps("dead", text, "if(c){ refuse_negative(x) }{ } ", "y");
    fer_model *model = make_model(text);
    bool no = false;
    fer_error error = FER_ERROR_INIT;
    fer_tensor *inputs[] = {FLOATS(-1), NULL};
    fer_tensor *y = NULL;
    ASSERT_OK(&error,
              fer_tensor_copy_from(FER_BOOL, 0, NULL, &no, (fer_device){0}, &inputs[1], &error));
    run(model, inputs, 2, &y, 1);
    ASSERT_FLOATS(y, -1);
    fer_tensor_release(y);
    fer_tensor_release(inputs[0]);
    fer_tensor_release(inputs[1]);
    fer_model_release(model);
}

/* --- dead ------------------------------------------------------------------------------------- */

static void what_nothing_uses_goes(void **state)
{
    (void)state;
    assert_steps("dead",
                 "graph g(x: f32[n], c: bool[]) { a = twice(x) b = add(a, a)"
                 " y = if c { d = twice(a) yield d } else { yield x }"
                 " z = if c { e = add(x, x) f = add(e, x) yield e } else { yield x } return z }",
                 "if(c){ add(x,x) }{ } ", "z");
    assert_steps("dead", "graph g(x: f32[n]) { k = constant f32[] [1] return x }", "", "x");
}

static void what_does_more_than_give_results_stays(void **state)
{
    (void)state;
    assert_steps("dead",
                 "graph g(inout b: f32[n], x: f32[n], k: i64[]) { a = twice(x) accumulate(b, a)"
                 " y = count_call(k) accumulate(b, x) r = rebind x [4] return }",
                 "twice(x) accumulate(b,a) count_call(k) accumulate(b,x) rebind(x) ", "");
    assert_steps("dead",
                 "graph g(inout b: f32[n], x: f32[n], c: bool[]) {"
                 " y = if c { accumulate(b, x) t = twice(x) yield t } else { yield x } return x }",
                 "if(c){ accumulate(b,x) twice(x) }{ } ", "x");
    assert_steps("dead",
                 "graph f(inout b: f32[n], x: f32[n]) { accumulate(b, x) return x }\n"
                 "graph g(inout b: f32[n], x: f32[n]) { y = call f(b, x) return x }",
                 "call f(b,x) ", "x");
    /* Only the name that came with it is used. */
    assert_steps(
        "dead", "graph g(x: f32[n]) { p = positive(x) r = rebind p [m] s = rebind x [m] return s }",
        "positive(x) rebind(p) rebind(x) ", "s");
}

/* --- All -------------------------------------------------------------------------------------- */

static void passes_are_found_by_name(void **state)
{
    (void)state;
    fer_error error = FER_ERROR_INIT;
    const fer_pass *pass;
    for (size_t i = 0; FER_PASSES[i] != NULL; i++) {
        ASSERT_OK(&error, fer_pass_find(FER_PASSES[i]->name, &pass, &error));
        assert_ptr_equal(pass, FER_PASSES[i]);
    }
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_pass_find("folding", &pass, &error),
                 "there is no pass 'folding'", "'fold' (", "'common' (", "'dead' (");
    assert_null(pass);
}

/* Names of data-dependent dims and places in the program are those of the original. */
static void messages_stay_as_they_were(void **state)
{
    (void)state;
    fer_module *module = after("dead", "graph g(x: f32[n]) {\n"
                                       "  a = twice(x)\n"
                                       "  b = twice(x)\n"
                                       "  p = positive(b)\n"
                                       "  q = refuse_negative(b)\n"
                                       "  return p, q }");
    const fer_graph *graph = fer_module_graph_at(module, 0);
    fer_error error = FER_ERROR_INIT;
    assert_int_equal(graph->body.num_nodes, 3);
    assert_non_null(strstr(fer_type_text(graph->outputs[0]->type), "__dyn_g_positive_2_kept_"));
    ASSERT_OK(&error, fer_graph_verify(graph, &error));
    assert_string_equal(graph->body.nodes[2]->place, "t.fer:6:7");
    fer_model *model = NULL;
    ASSERT_OK(&error, fer_model_create(graph, NULL, &model, &error));
    fer_tensor *x = FLOATS(1, -1);
    fer_tensor *outputs[2];
    ASSERT_FAILS(&error, FER_RUNTIME_ERROR, fer_model_run(model, &x, 1, outputs, 2, &error),
                 "t.fer:6:7: ", "refuse_negative: element 1 is -2, below 0");
    fer_tensor_release(x);
    fer_model_release(model);
    fer_module_release(module);
}

int main(void)
{
    setenv("FERRULE_HOST_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_on_constants_become_constants),
        cmocka_unit_test(transfers_of_constants_become_constants),
        cmocka_unit_test(the_arm_that_is_always_taken_stands_for_the_if),
        cmocka_unit_test(blocks_in_an_arm_go_with_it),
        cmocka_unit_test(an_arm_that_would_fail_elsewhere_stays),
        cmocka_unit_test(a_loop_that_never_turns_gives_its_initial_values),
        cmocka_unit_test(what_left_an_arm_reads_back_and_fails_in_its_place),
        cmocka_unit_test(what_is_not_always_the_same_is_not_folded),
        cmocka_unit_test(an_effect_on_constants_is_not_folded),
        cmocka_unit_test(large_constants_are_not_folded),
        cmocka_unit_test(what_was_computed_is_not_computed_again),
        cmocka_unit_test(a_transfer_is_shared_like_an_op),
        cmocka_unit_test(blocks_see_what_is_around_them_and_not_beside),
        cmocka_unit_test(what_is_changed_or_has_an_effect_is_not_shared),
        cmocka_unit_test(a_load_is_shared_only_where_nothing_is_written),
        cmocka_unit_test(what_does_not_run_serves_nothing),
        cmocka_unit_test(what_nothing_uses_goes),
        cmocka_unit_test(what_does_more_than_give_results_stays),
        cmocka_unit_test(passes_are_found_by_name),
        cmocka_unit_test(messages_stay_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
