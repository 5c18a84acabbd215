"""The documents' and docstrings' examples do what they show."""

import doctest
import pathlib
import re

import pytest

import ferrule
from ferrule import _core, custom

pytest.importorskip("numpy")
pytest.importorskip("ml_dtypes")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = {**vars(ferrule), "ferrule": ferrule, "custom": custom}


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
    assert run(name, thing.__doc__, NAMES) > 0, f"{name}: no example"
