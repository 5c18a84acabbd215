"""How `./dev docs` makes the pages: these Markdown files, and what the Python package says of itself."""

import re

import ferrule

project = "Ferrule"
version = release = ferrule.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"Ferrule {release}"
html_show_copyright = False

# Links go to headings, by GitHub's rules.
myst_heading_anchors = 3

# The tutorial is run, and what it shows is what happened; a cell that fails says that it does.
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # how long a compile took

autodoc_default_options = {"members": True}
autodoc_typehints = "none"


def show_signature(app, what, name, thing, options, signature, returned):
    """What a function of C says, also where inspect cannot read its defaults."""
    text = getattr(thing, "__text_signature__", None)
    if what in ("method", "function", "class") and text:
        return re.sub(r"\$(self|type|module)(, /)?(, )?", "", text), None
    return None


def show_code(app, what, name, thing, options, lines):
    """Docstrings are plain text: what stands in backticks is code, and a `*` nothing special."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = re.sub(r"`([^`]+)`", r"``\1``", line)


def setup(app):
    app.connect("autodoc-process-signature", show_signature)
    app.connect("autodoc-process-docstring", show_code)
