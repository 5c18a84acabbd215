"""Control flow, calls and copies of graphs."""

import pytest

from ferrule import BufferType, DType, Graph, KernelError, Tensor, TensorType, TensorValue, custom

np = pytest.importorskip("numpy")

f32 = DType.float32
VECTOR = TensorType(f32, ["n"])
SCALAR = TensorType(f32, [])
FLAG = TensorType(DType.bool, [])


def test_cond_runs_one_of_two():
    with Graph("g", [VECTOR, FLAG]) as graph:
        x, flag = graph.inputs
        y = graph.cond(flag, lambda: x * 2.0, lambda: x + 1.0)
        assert isinstance(y, TensorValue) and y.type == VECTOR
        both = graph.cond(flag, lambda: (x, y), lambda: [y, x])
        assert isinstance(both, list) and len(both) == 2
        assert graph.cond(flag, lambda: None) is None
        graph.output(y, *both)
    model = graph.compile()
    assert [t.tolist() for t in model([1.0, 3.0], True)] == [[2, 6], [1, 3], [2, 6]]
    assert [t.tolist() for t in model([1.0, 3.0], False)] == [[2, 4], [2, 4], [1, 3]]
    assert "if input1 {" in str(graph)


def test_while_loop_carries_values():
    with Graph("g", [VECTOR, SCALAR]) as graph:
        x, turns = graph.inputs
        doubled, left = graph.while_loop(
            lambda x, left: left > 0.0, lambda x, left: (x * 2.0, left - 1.0), (x, turns)
        )
        assert doubled.type == VECTOR and left.type == SCALAR
        one = graph.while_loop(lambda left: left > 0.0, lambda left: left - 1.0, turns)
        assert isinstance(one, TensorValue)
        graph.output(doubled, left, one, x)
    model = graph.compile()
    assert [t.tolist() for t in model([1.0, -3.0], 3.0)] == [[8, -24], 0, 0, [1, -3]]
    assert [t.tolist() for t in model([1.0, -3.0], -1.0)] == [[1, -3], -1, -1, [1, -3]]


def test_blocks_nest_and_see_what_is_around(ops):
    with Graph("g", [BufferType(f32, ["n"]), SCALAR]) as graph:
        total, turns = graph.inputs

        def body(left):
            graph.cond(left > 1.0, lambda: ops.double_up(total))
            return left - 1.0

        graph.output(graph.while_loop(lambda left: left > 0.0, body, turns))
    x = Tensor([1.0, 3.0])
    assert graph.compile()(x, 3.0).item() == 0.0
    assert x.tolist() == [4.0, 12.0]


def test_a_graph_calls_another(ops):
    with Graph("square", [TensorType(f32, ["k"])]) as square:
        square.output(square.inputs[0] * square.inputs[0])
    with Graph("main", [VECTOR], module=square) as graph:
        low, high = ops.halves(graph.inputs[0])
        graph.output(graph.call(square, low), graph.call(square, graph.call(square, high)))
    assert [t.tolist() for t in graph.compile()([2.0, 3.0])] == [[4.0], [81.0]]
    assert str(graph) == str(square) and "call square(" in str(graph)
    copy = square.copy("again")
    assert copy.name == "again" and copy.input_names == square.input_names
    assert copy.compile()([3.0]).tolist() == [9.0]
    with pytest.raises(ValueError, match="'again' already"):
        square.copy("again")


def test_what_does_not_fit_is_refused():
    with Graph("g", [VECTOR, FLAG]) as graph:
        x, flag = graph.inputs
        with pytest.raises(ValueError, match="the predicate of if is f32\\[n\\]"):
            graph.cond(x, lambda: x, lambda: x)
        with pytest.raises(TypeError, match="the predicate is 'float', not a TensorValue"):
            graph.cond(1.0, lambda: x, lambda: x)
        with pytest.raises(ValueError, match="'g' cannot call itself"):
            graph.call(graph, x, flag)
        with pytest.raises(TypeError, match="the Graph to call"):
            graph.call(x)
        other = Graph("other", [VECTOR])
        other.output(other.inputs[0])
        with pytest.raises(ValueError, match="'other' is of another module"):
            graph.call(other, x)
        with pytest.raises(TypeError, match="not a Graph"):
            Graph("h", [], module="g")
    for first, message in [(lambda: flag, "result 0 is bool\\[\\] in the first arm, but f32\\[n\\]"),
                           (lambda: None, "yields 0 values, but the else arm 1")]:
        graph = Graph("g", [VECTOR, FLAG])
        x, flag = graph.inputs
        with pytest.raises(ValueError, match=message):
            graph.cond(flag, first, lambda: x)


def test_an_exception_leaves_the_graph_unfinished():
    graph = Graph("g", [VECTOR, FLAG])
    x, flag = graph.inputs
    error = KeyError("unchanged")

    def fail(*values):
        raise error

    with pytest.raises(KeyError) as caught:
        graph.cond(flag, lambda: graph.cond(flag, lambda: None, fail))
    assert caught.value is error and not hasattr(error, "__notes__")
    message = "graph 'g': its building was left by an exception, KeyError, in the else arm of if; build it anew"
    calls = [
        lambda: graph.output(x),
        lambda: graph.constant(1.0),
        lambda: x + x,
        lambda: x.rebind([3]),
        lambda: graph.cond(flag, lambda: x, lambda: x),
        lambda: graph.while_loop(lambda x: flag, lambda x: x, x),
        lambda: graph.compile(),
        lambda: graph.copy("h"),
        lambda: str(graph),
    ]
    for call in calls:
        with pytest.raises(ValueError) as refused:
            call()
        assert str(refused.value) == message
    assert repr(graph) == "<Graph 'g': 2 inputs, 0 ops>" and graph.to_dot().startswith("digraph")
    main = Graph("main", [VECTOR], module=graph)
    with pytest.raises(ValueError) as refused:
        main.call(graph, main.inputs[0])
    assert str(refused.value) == "graph 'main': " + message
    for build, where in [
        (lambda: graph.while_loop(fail, lambda x: x, x), "the condition of while"),
        (lambda: graph.while_loop(lambda x: flag, fail, x), "the body of while"),
    ]:
        graph = Graph("g", [VECTOR, FLAG])
        x, flag = graph.inputs
        with pytest.raises(KeyError):
            build()
        with pytest.raises(ValueError, match=f"by an exception, KeyError, in {where}; build it anew"):
            graph.output(x)


def test_an_exception_leaves_a_with_block():
    with pytest.raises(KeyError):
        with Graph("g", [VECTOR]) as graph:
            raise KeyError
    with pytest.raises(ValueError) as refused:
        graph.output(graph.inputs[0])
    assert str(refused.value) == "graph 'g': its building was left by an exception, KeyError; build it anew"
    with pytest.raises(KeyError):
        with Graph("g", [VECTOR]) as graph:
            graph.output(graph.inputs[0])
            raise KeyError
    assert graph.compile()([2.0]).tolist() == [2.0]
    with Graph("g", [VECTOR]) as graph:
        pass
    graph.output(graph.inputs[0])


def test_what_is_no_value_is_told_how_to_be_one():
    graph = Graph("g", [VECTOR, FLAG])
    x, flag = graph.inputs
    hint = "; graph.constant(...) makes one of it"
    cases = [
        (lambda: graph.cond(True, lambda: x), f"the predicate is 'bool', not a TensorValue{hint}"),
        (lambda: graph.cond(None, lambda: x), "the predicate is 'NoneType', not a TensorValue"),
        (lambda: graph.cond(Tensor(True), lambda: x), f"the predicate is 'ferrule.Tensor', not a TensorValue{hint}"),
        (lambda: graph.while_loop(lambda x: flag, lambda x: x, 3), f"an initial value is 'int', not a TensorValue{hint}"),
        (lambda: graph.output(3), f"graph 'g': output 0 is of type 'int', not a TensorValue{hint}"),
        (
            lambda: graph.output([x, x]),
            "graph 'g': output 0 is of type 'list', not a TensorValue; several are given one by one, as in f(*values)",
        ),
        (lambda: graph.constant(x), "graph 'g': a TensorValue is no constant; use it as it is"),
        (
            lambda: np.asarray(x),
            "<TensorValue f32[n] of graph 'g'> has no elements before the graph runs: output() it, and run the model",
        ),
        (
            lambda: custom.declare("add", custom_extensions="std")(x, Tensor([1.0])),
            "add: operands must be all tensors or all graph values, but 'a' is a graph value, 'b' is a tensor; make "
            "the tensors constants of the graph to stage the op (in Python graph.constant(tensor))",
        ),
        (
            lambda: graph.cond(flag, x, x),
            "cond: `first` is 'ferrule.TensorValue', not a function that stages a block and returns what it gives, "
            "as in lambda: x",
        ),
        (
            lambda: graph.while_loop(lambda x: flag, x, x),
            "while_loop: `body` is 'ferrule.TensorValue', not a function that stages a block and returns what it "
            "gives, as in lambda: x",
        ),
    ]
    for call, message in cases:
        with pytest.raises(TypeError) as refused:
            call()
        assert str(refused.value) == message
    graph.output(x)  # none of these has begun a block


def test_a_value_stays_in_its_graph_and_block():
    graph, other = Graph("g", [VECTOR, FLAG]), Graph("g", [VECTOR])
    x, flag = graph.inputs
    with pytest.raises(ValueError) as refused:
        x + other.inputs[0]
    assert str(refused.value) == "add: operand 'b' is a value of another graph, 'g', than the op is staged in, 'g'"
    kept = []
    y = graph.cond(flag, lambda: kept.append(x * 2.0) or x, lambda: x)
    with pytest.raises(ValueError) as refused:
        y + kept[0]
    assert str(refused.value) == (
        "add: operand 'b' is a value of the first arm of if, which has ended; only what it yields, in Python "
        "returns, can be used outside of it"
    )


def test_results_need_the_other_function():
    graph = Graph("g", [VECTOR, FLAG])
    x, flag = graph.inputs
    with pytest.raises(ValueError) as refused:
        graph.cond(flag, lambda: x)
    assert str(refused.value) == (
        "graph 'g': cond: `first` returns 1 value, so `other` must be given and return as many"
    )
    with pytest.raises(ValueError) as refused:
        graph.compile()
    assert str(refused.value) == (
        "graph 'g': its building was left by an exception, ValueError, in the else arm of if; build it anew"
    )
    with pytest.raises(ValueError) as refused:
        Graph("h").compile()
    assert str(refused.value) == (
        "graph 'h' has no outputs yet; fer_graph_output, in Python graph.output(...), gives it some"
    )


def test_a_branch_that_python_would_take():
    graph = Graph("g", [VECTOR, FLAG])
    x, flag = graph.inputs
    for branch in (lambda: 1 if flag else 2, lambda: flag and flag, lambda: not flag, lambda: 0 < x < 1):
        with pytest.raises(TypeError) as refused:
            branch()
        assert str(refused.value) == (
            "a graph value has no number before the graph runs, so Python cannot branch on it; "
            "Graph.cond and Graph.while_loop can, and & | ~ are and, or, not"
        )


def test_what_a_function_returns_is_judged():
    graph = Graph("g", [VECTOR, FLAG])
    x, flag = graph.inputs
    with pytest.raises(TypeError, match="what the body returns is 'int', not a TensorValue"):
        graph.while_loop(lambda y: flag, lambda y: 3, x)
    graph = Graph("g", [VECTOR, FLAG])
    x, flag = graph.inputs
    kept = []
    y = graph.cond(flag, lambda: kept.append(x * 2.0) or kept[0], lambda: x)
    with pytest.raises(ValueError, match="the first arm of if, which has ended"):
        graph.output(y, kept[0])


def test_an_exception_that_a_function_catches_ends_no_block():
    for which in range(3):
        for build in (lambda g, x, flag, f: g.cond(flag, f, lambda: x),
                      lambda g, x, flag, f: g.cond(flag, lambda: x, f),
                      lambda g, x, flag, f: g.while_loop(lambda x: (f(), flag)[1], lambda x: x, x),
                      lambda g, x, flag, f: g.while_loop(lambda x: flag, lambda x: f(), x)):
            graph = Graph("g", [VECTOR, FLAG])
            x, flag = graph.inputs

            def function():
                starts = [lambda: graph.cond(flag, lambda: 1 // 0),
                          lambda: graph.while_loop(lambda x: flag, lambda x: 1 // 0, x),
                          lambda: graph.cond(flag, lambda: x, lambda: None)]
                with pytest.raises((ZeroDivisionError, ValueError)):
                    starts[which]()
                return x

            with pytest.raises(ValueError, match="its building was left by an exception, (Zero|Value)"):
                build(graph, x, flag, function)


def test_a_value_that_only_the_function_had_is_refused():
    """Its graph has nobody else who keeps it."""

    def stray():
        return Graph("other", [VECTOR]).inputs[0]

    class Strays(list):
        def __iter__(self):
            return iter([stray()])

    for result in (lambda: stray(), lambda: (stray(),), lambda: Strays()):
        graph = Graph("g", [VECTOR, FLAG])
        x, flag = graph.inputs
        with pytest.raises(ValueError, match="a value of another graph, 'other'"):
            graph.cond(flag, result)
        graph = Graph("g", [VECTOR, FLAG])
        x, flag = graph.inputs
        with pytest.raises(ValueError, match="a value of another graph, 'other'"):
            graph.while_loop(lambda x: flag, lambda x, result=result: result(), x)
        with pytest.raises(ValueError, match="a value of another graph, 'other'"):
            Graph("g", [VECTOR]).while_loop(lambda x: result(), lambda x: x, Strays())


def test_a_failure_in_a_loop_says_where():
    fail = custom.declare(
        "small(x: f32[]) -> f32[]",
        source='#include <ferrule/kernel.h>\nKERNEL(small, OUT(f32, 0, y), IN(f32, 0, x)) {\n'
        '  CHECK(AT(x) < 3, "%g is not small", (double)AT(x)); AT(y) = AT(x); return OK; }\n',
    )
    with Graph("g", [SCALAR]) as graph:
        graph.output(
            graph.while_loop(lambda x: x < 9.0, lambda x: fail(x) + 1.0, graph.inputs[0])
        )
    with pytest.raises(KernelError, match="graph 'g': iteration 3 of while: small: 3 is not small"):
        graph.compile()(1.0)
