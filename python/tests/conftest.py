"""What the tests share: a kernel cache of their own, and the ops of the folder kernels/."""

import functools
import os
import pathlib
import shutil
import tempfile

import pytest

cache = tempfile.mkdtemp(prefix="ferrule-tests-")
os.environ["FERRULE_CACHE_DIR"] = cache
os.environ["FERRULE_HOST_DEVICES"] = "2"

from ferrule import custom  # noqa: E402 - the environment is read when it is first needed

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"


def pytest_unconfigure():
    shutil.rmtree(cache, ignore_errors=True)


@functools.cache
def kernel(name):
    """The op whose declaration the package has."""
    return custom.declare(name, custom_extensions=KERNELS)


@pytest.fixture
def ops():
    return Ops()


class Ops:
    def __getattr__(self, name):
        return kernel(name)


@pytest.fixture
def kernels():
    return KERNELS
