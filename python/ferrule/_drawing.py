"""Graphs as pictures, where Graphviz is installed."""

import shutil
import subprocess


def svg(dot: str) -> str | None:
    """What Graphviz's `dot` makes of it; None where there is none, or it fails."""
    if shutil.which("dot") is None:
        return None
    result = subprocess.run(
        ["dot", "-Tsvg"], input=dot, capture_output=True, text=True, encoding="utf-8", check=False
    )
    return result.stdout if result.returncode == 0 else None
