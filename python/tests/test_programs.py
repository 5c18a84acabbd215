"""The programs of examples/, run by the command, give what NumPy gives."""

import csv
import importlib.metadata
import pathlib
import subprocess
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def run(tmp_path):
    """Runs an example on arrays and numbers; gives the outputs of these names."""

    def run(program, outputs, graph=None, **inputs):
        words = [] if graph is None else ["--graph", graph]
        for name, value in inputs.items():
            if isinstance(value, np.ndarray):
                np.save(tmp_path / f"{name}.npy", value)
                value = tmp_path / f"{name}.npy"
            words.append(f"{name}={value}")
        for name in outputs:
            words += ["-o", f"{name}={tmp_path / name}-out.npy"]
        command = [sys.executable, "-m", "ferrule", "run", EXAMPLES / program, *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        return [np.load(tmp_path / f"{name}-out.npy") for name in outputs]

    return run


# --- deblur: conjugate gradients ----------------------------------------------------------------


def smearing(height, width):
    """What smear does to a picture of one channel, as a matrix: [1 2 1] / 4 along each axis."""

    def along(size):
        return (2 * np.eye(size) + np.eye(size, k=1) + np.eye(size, k=-1)) / 4

    return np.kron(along(height), along(width))


@pytest.mark.parametrize(("height", "width"), [(9, 12), (1, 7), (1, 1)])
@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_deblurring_solves_the_normal_equations(run, height, width, noise):
    picture = np.random.default_rng(1).random((height, width, 3), np.float32)
    sharp, steps = run("deblur.fer", ["sharp", "steps"], picture=picture, noise=noise)
    smear = smearing(height, width)
    pixels = picture.astype(float).reshape(-1, 3)
    solution = np.linalg.solve(smear @ smear + noise * np.eye(len(smear)), smear @ pixels)
    np.testing.assert_allclose(sharp.reshape(-1, 3), solution, rtol=0, atol=1e-6)
    assert 0 < steps <= pixels.size  # as many as there are unknowns, without rounding


def test_a_black_picture_needs_no_step(run):
    black = np.zeros((3, 4, 1), "f4")
    sharp, steps = run("deblur.fer", ["sharp", "steps"], picture=black, noise=0.01)
    assert (sharp == black).all() and steps == 0


# --- boxes: non-maximum suppression ---------------------------------------------------------------


def keep(boxes, scores, overlap, least):
    """The places of the boxes that are kept: the best first, each held against all kept before."""
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        size = boxes[:, 2:] - boxes[:, :2]
        both = np.minimum(boxes[kept, 2:], boxes[i, 2:]) - np.maximum(boxes[kept, :2], boxes[i, :2])
        shared = both.clip(0).prod(axis=1)
        covered = size[i].prod() + size[kept].prod(axis=1) - shared
        if scores[i] >= least and not (shared > overlap * covered).any():
            kept.append(i)
    return sorted(kept)


@pytest.mark.parametrize("overlap", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("least", [0.0, 0.5, 2.0])
def test_boxes_are_kept_as_by_the_definition(run, overlap, least):
    random = np.random.default_rng(2)
    corners = random.integers(0, 20, (60, 2))
    boxes = np.hstack([corners, corners + random.integers(1, 9, (60, 2))]).astype("f4")
    scores = random.integers(0, 100, 60).astype("f4") / 100  # some are equal
    names = ["kept_boxes", "kept_scores"]
    found = run("boxes.fer", names, boxes=boxes, scores=scores, overlap=overlap, least=least)
    kept = keep(boxes, scores, overlap, least)
    assert (found[0] == boxes[kept]).all() and (found[1] == scores[kept]).all()


def test_no_boxes_are_none(run):
    boxes, scores = np.zeros((0, 4), "f4"), np.zeros(0, "f4")
    names = ["kept_boxes", "kept_scores"]
    found = run("boxes.fer", names, boxes=boxes, scores=scores, overlap=0.5, least=0.0)
    assert [array.shape for array in found] == [(0, 4), (0,)]


# --- frames: a histogram in a buffer --------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, 5])
def test_levels_of_frames_add_up(run, length):
    frames = np.random.default_rng(3).integers(0, 256, (length, 7, 9)).astype("u1")
    before = np.arange(256) % 3
    medians = np.full(length, -1)
    counts, medians = run(
        "frames.fer", ["counts", "medians"], frames=frames, counts=before, medians=medians
    )
    assert (counts == before + np.bincount(frames.ravel(), minlength=256)).all()
    for i in range(length):
        levels = np.repeat(np.arange(256), before)
        levels = np.sort(np.concatenate([levels, frames[: i + 1].ravel()]))
        assert medians[i] == levels[(len(levels) - 1) // 2]  # the lower of two in the middle


# --- penguins: a network on real data -------------------------------------------------------------


def penguins():
    """Four measures of each bird, scaled to mean 0 and variance 1, and its species as 0, 1, 2."""
    package = importlib.metadata.distribution("palmerpenguins")
    text = package.locate_file("palmerpenguins/data/penguins.csv").read_text(encoding="utf-8")
    names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    birds = [bird for bird in csv.DictReader(text.splitlines()) if bird[names[0]] != "NA"]
    x = np.array([[float(bird[name]) for name in names] for bird in birds])
    kinds, species = np.unique([bird["species"] for bird in birds], return_inverse=True)
    assert x.shape == (342, 4) and kinds.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    return (x - x.mean(axis=0)) / x.std(axis=0), species


def classify(x, w1, b1, w2, b2):
    z = np.tanh(x @ w1 + b1)
    powers = np.exp(z @ w2 + b2)
    return z, powers / powers.sum(axis=1, keepdims=True)


def train(x, y, w1, b1, w2, b2, rate, steps):
    for _ in range(steps):
        z, probable = classify(x, w1, b1, w2, b2)
        delta = rate * (probable - y)
        inner = (delta @ w2.T) * (1 - z**2)
        w1, b1 = w1 - x.T @ inner, b1 - inner.sum(axis=0)
        w2, b2 = w2 - z.T @ delta, b2 - delta.sum(axis=0)
    return w1, b1, w2, b2


def test_a_network_learns_the_species_of_penguins(run):
    x, species = penguins()
    random = np.random.default_rng(4)
    names = ["w1", "b1", "w2", "b2"]
    start = [random.normal(size=(4, 8)), np.zeros(8), random.normal(size=(8, 3)), np.zeros(3)]
    y, rate = np.eye(3)[species], 1 / len(x)
    results = ["v1", "c1", "v2", "c2"]
    given = dict(zip(names, start, strict=True))
    weights = run("penguins.fer", results, graph="train", x=x, y=y, rate=rate, steps=300, **given)
    for found, expected in zip(weights, train(x, y, *start, rate, 300), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

    given = dict(zip(names, weights, strict=True))
    found, probable = run("penguins.fer", ["species", "probable"], x=x, **given)
    np.testing.assert_allclose(probable, classify(x, *weights)[1], rtol=1e-12)
    assert (found == probable.argmax(axis=1)).all()
    assert (found == species).mean() > 0.98
