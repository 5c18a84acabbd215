"""What the tests of the command share: running it, and .npy and PNG files without other packages.

Each test file is run as `test_x.py COMMAND`."""
import ast
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

COMMAND = os.path.abspath(sys.argv.pop(1))
DATA = pathlib.Path(__file__).resolve().parent.parent / "cases"
SOURCE = DATA.parent.parent


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr


def run(*arguments, timeout=120, **options):
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True,
                             encoding="utf-8", timeout=timeout, **options)
    return Result(process)


def rows(table):
    """The rows of a case table, at least four columns each."""
    for line in (DATA / table).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line, (line.split("\t") + [""] * 4)[:4]


def dense(text):
    """Printed tensors without the blanks that align them."""
    return "".join(text.split())


class CommandTest(unittest.TestCase):
    """A test with a folder of its own, `self.folder`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def succeeds(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual((result.code, result.err), (0, ""), arguments)
        return result.out

    def fails(self, kind, *arguments, words=(), **options):
        """One error of that kind on stderr, holding the words, and nothing on stdout."""
        result = run(*arguments, **options)
        self.assertEqual((result.code, result.out), (1, ""), (arguments, result.err))
        self.assertTrue(result.err.startswith(f"ferrule: {kind}: "), (arguments, result.err))
        for word in words:
            self.assertIn(word, result.err, arguments)
        return result.err

    def misused(self, *arguments, words=()):
        """Exit code 2 and a usage line on stderr."""
        result = run(*arguments)
        self.assertEqual((result.code, result.out), (2, ""), (arguments, result.err))
        self.assertIn("usage: ferrule ", result.err, arguments)
        for word in words:
            self.assertIn(word, result.err, arguments)


NPY_FORMATS = {"<f4": "f", "<f8": "d", "|u1": "B", "|b1": "?", "<i4": "i", "<i8": "q"}


def write_npy(path, descr, shape, values):
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header = header.ljust((10 + len(header) + 1 + 63) // 64 * 64 - 11) + "\n"
    values = list(values)
    assert math.prod(shape) == len(values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                     struct.pack(f"<{len(values)}{NPY_FORMATS[descr]}", *values))
    return path


def read_npy(path):
    """(descr, shape, values)"""
    data = path.read_bytes()
    assert data[:6] == b"\x93NUMPY", path
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    assert not header["fortran_order"]
    count = math.prod(header["shape"])
    values = struct.unpack(f"<{count}{NPY_FORMATS[header['descr']]}", data[10 + size:])
    return header["descr"], header["shape"], list(values)


def write_png(path, height, width, channels, samples):
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    row = width * channels
    lines = b"".join(b"\0" + bytes(samples[i * row:(i + 1) * row]) for i in range(height))

    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data +
                struct.pack(">I", zlib.crc32(name + data)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" +
                     chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))
    return path


def paeth(left, up, corner):
    """https://www.w3.org/TR/png-3/#9Filter-type-4-Paeth"""
    estimate = left + up - corner
    return min((left, up, corner), key=lambda value: abs(estimate - value))


def read_png(path):
    """(height, width, channels, samples) of an 8-bit PNG that is not interlaced."""
    data, place, packed, shape = path.read_bytes(), 8, b"", None
    while place < len(data):
        size, name = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + size]
        if name == b"IHDR":
            width, height, bits, kind, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert bits == 8 and interlace == 0
            shape = height, width, {0: 1, 4: 2, 2: 3, 6: 4}[kind]
        elif name == b"IDAT":
            packed += body
        place += 12 + size
    height, width, channels = shape
    raw, row, previous, samples = zlib.decompress(packed), width * channels, [], []
    previous = [0] * row
    for i in range(height):
        line = list(raw[i * (row + 1):(i + 1) * (row + 1)])
        how, line = line[0], line[1:]
        for j in range(row):
            left = line[j - channels] if j >= channels else 0
            corner = previous[j - channels] if j >= channels else 0
            up = previous[j]
            line[j] = (line[j] + [0, left, up, (left + up) // 2, paeth(left, up, corner)][how]) % 256
        previous = line
        samples += line
    return height, width, channels, samples


def main():
    unittest.main(verbosity=1)
