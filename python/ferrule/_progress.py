"""The bar of a long compile: tqdm's where it is installed, else the same line in plain text. The extension
imports this when a compile has taken long, and calls it several times a second on the main thread."""

import os
import sys
from typing import Any, Protocol

WIDTH = 10  # of the bar
UNIT = "kernel"
# From nothing to a whole place of the bar.
BLOCKS, ASCII = " ▏▎▍▌▋▊▉█", " 123456789#"


class Bar(Protocol):
    def renew(self, description: str, done: int, seconds: float) -> None: ...
    def finish(self, description: str, done: int, seconds: float) -> None: ...


bar: Bar | None = None


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def line(description: str, done: int, total: int, seconds: float, marks: str = BLOCKS) -> str:
    """As tqdm writes it."""
    places, part = divmod(int(done / total * WIDTH * (len(marks) - 1)), len(marks) - 1)
    filled = marks[-1] * places + (marks[part] if places < WIDTH else "")
    rate = done / seconds
    pace = f"{1 / rate:5.2f}s/{UNIT}" if 0 < rate < 1 else f"{f'{rate:5.2f}' if rate else '?'}{UNIT}/s"
    rest = clock((total - done) / rate) if rate else "?"
    percent = f"{done / total * 100:3.0f}%"
    return f"{description}: {percent}|{filled:{WIDTH}}| {done}/{total} [{clock(seconds)}<{rest}, {pace}]"


class PlainBar:
    def __init__(self, total: int, leave: bool) -> None:
        self.total, self.leave, self.shown = total, leave, ""

    def write(self, text: str, end: str = "") -> None:
        sys.stderr.write("\r" + text.ljust(len(self.shown)) + end)
        sys.stderr.flush()
        self.shown = text

    def renew(self, description: str, done: int, seconds: float) -> None:
        text = line(description, done, self.total, seconds)
        try:
            text.encode(sys.stderr.encoding or "ascii")
        except UnicodeEncodeError:
            text = line(description, done, self.total, seconds, ASCII).encode("ascii", "replace").decode()
        if text != self.shown:
            self.write(text)

    def finish(self, description: str, done: int, seconds: float) -> None:
        self.renew(description, done, seconds)
        if self.leave:
            self.write(self.shown, "\n")
        else:
            self.write("", "\r")


class TqdmBar:
    def __init__(self, description: str, total: int, leave: bool, seconds: float) -> None:
        from tqdm.auto import tqdm

        class Unwatched(tqdm):  # type: ignore[misc]
            monitor_interval = 0  # it would start a thread

        self.bar: Any = Unwatched(desc=description, total=total, unit=UNIT, leave=leave)
        self.bar.start_t -= seconds

    def renew(self, description: str, done: int, seconds: float) -> None:
        self.bar.set_description(description, refresh=False)
        self.bar.n = done
        self.bar.refresh()

    def finish(self, description: str, done: int, seconds: float) -> None:
        self.renew(description, done, seconds)
        self.bar.close()


def is_watched() -> bool:
    """A terminal or a notebook, and nobody said no, as one does to tqdm."""
    if sys.stderr is None or os.environ.get("TQDM_DISABLE"):
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def make(description: str, total: int, seconds: float) -> Bar:
    leave = bool(os.environ.get("TQDM_LEAVE"))
    try:
        return TqdmBar(description, total, leave, seconds)
    except Exception:  # it is not there, or lacks what it needs in a notebook
        return PlainBar(total, leave)


def show(what: str, done: int, total: int, seconds: float) -> bool:
    """Renews the bar, or begins it. False: there is none. No fault of a stream ends a compile."""
    global bar
    description = f"compiling {what}"
    try:
        if bar is None and is_watched():
            bar = make(description, total, seconds)
        if bar is not None:
            bar.renew(description, done, seconds)
    except Exception:
        bar = None
    return bar is not None


def end(what: str, done: int, total: int, seconds: float) -> bool:
    global bar
    ended, bar = bar, None
    try:
        if ended is not None:
            ended.finish(f"compiling {what}", done, seconds)
    except Exception:
        pass
    return False
