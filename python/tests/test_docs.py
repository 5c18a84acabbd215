"""The documents' and docstrings' examples do what they show."""

import doctest
import inspect
import json
import pathlib
import re

import pytest

import ferrule
from ferrule import _core, custom

pytest.importorskip("numpy")
pytest.importorskip("ml_dtypes")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = {name: getattr(ferrule, name) for name in ferrule.__all__} | {"ferrule": ferrule}


def run(name, text, names):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, name, 0)
    assert runner.run(test).failed == 0
    return len(test.examples)


def test_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert run("python.md", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), {}) > 20


def test_the_readme(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names = {}
    exec(code, names)
    assert names["y"].shape == (2, 4, 3) and names["thumbnail"].shape == (4, 2, 3)


def documented():
    """Everything public that can have a docstring, by name."""
    for module in (ferrule, custom):
        yield module.__name__, module
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            if isinstance(thing, type):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and not isinstance(value, _core.DType):
                        yield f"{module.__name__}.{name}.{member}", value


@pytest.mark.parametrize("name, thing", [pytest.param(*pair, id=pair[0]) for pair in documented()])
def test_docstrings(name, thing):
    if name.endswith("__version__"):
        return
    assert thing.__doc__, name
    if "import torch" in thing.__doc__:
        pytest.importorskip("torch")  # `./dev test --interop` has it
    assert run(name, thing.__doc__, NAMES) > 0, f"{name}: no example"


@pytest.mark.parametrize("name, thing", [pytest.param(*pair, id=pair[0]) for pair in documented()])
def test_signatures(name, thing):
    """Editors can say what a function takes."""
    if inspect.isroutine(thing):
        parameters = inspect.signature(thing).parameters
        assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values()), name


def test_the_notebook(monkeypatch):
    """Its cells run in order; those that say that they fail do. `./dev docs` runs it in Jupyter."""
    cells = json.loads((ROOT / "examples" / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(codes) > 8 and not any(cell["outputs"] for cell in codes)
    names = {}
    for cell in codes:
        code = "".join(cell["source"])
        if "raises-exception" in cell["metadata"].get("tags", []):
            with pytest.raises((ValueError, ferrule.KernelError)):
                exec(code, names)
        else:
            exec(code, names)
    assert names["graph"].outputs[0].shape == ("h", names["graph"].inputs[0].shape[1] // 2 - 1, 3)
