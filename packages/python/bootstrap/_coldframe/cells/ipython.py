"""The names of IPython that libraries and notebooks use: `get_ipython()` and `IPython.display`.

`install` makes the modules `IPython` and `IPython.display` available unless the real package is
installed. Next: `magics.py`.
"""

import importlib.abc
import importlib.machinery
import pydoc
import re
import subprocess
import sys
import types

from . import display as _display
from . import magics

_EXPANDED = re.compile(r"\$([A-Za-z_]\w*)|\{([^{}]+)\}")


class Shell:
    """The object that `get_ipython()` returns."""

    def __init__(self, cells):
        self._cells = cells
        self.user_ns = cells.namespace
        self.user_module = cells._main
        self.config = {}

    @property
    def execution_count(self):
        return self._cells._count

    def display(self, *values):
        self._cells.display(*values)

    def run_line_magic(self, name, line, _stack_depth=1):
        return magics.line_magic(self, name, line)

    def run_cell_magic(self, name, line, cell):
        return magics.cell_magic(self, name, line, cell)

    def magic(self, text):
        name, _, line = text.lstrip("%").partition(" ")
        return self.run_line_magic(name, line)

    def run_cell(self, code, *_arguments, **_options):
        return self.evaluate(code)

    def system(self, command):
        """Runs a command with the output of the cell, and stores its exit code."""
        self.user_ns["_exit_code"] = magics.system(command)

    def getoutput(self, command, split=True, depth=0):
        """Runs a command, and returns the lines of its output."""
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.user_ns["_exit_code"] = done.returncode
        return done.stdout.splitlines() if split else done.stdout

    def expanded(self, command):
        """Replaces `$name` and `{expression}` by values of the namespace, as far as they exist."""

        def value(found):
            try:
                return str(eval(found[1] or found[2], self.user_ns))
            except Exception:
                return found[0]

        return _EXPANDED.sub(value, command)

    def evaluate(self, code):
        """Runs code in the namespace. The value of a last expression is shown."""
        self._cells._execute(code, "<magic>", remember=False)

    def show_help(self, name):
        try:
            value = eval(name, self.user_ns)
        except Exception:
            print(f"Object `{name}` not found.")
            return
        print(pydoc.plain(pydoc.render_doc(value)))

    def reset(self, new_session=True):
        kept = {"In", "Out", "display", "get_ipython"}
        for name in [name for name in self.user_ns if name not in kept and not name.startswith("_")]:
            del self.user_ns[name]
        self.user_ns["Out"].clear()

    def push(self, variables, interactive=True):
        self.user_ns.update(variables)

    def register_magic_function(self, func, magic_kind="line", magic_name=None):
        name = magic_name or func.__name__
        if magic_kind in ("cell", "line_cell"):
            magics._CELLS[name] = lambda shell, line, body: func(line, body)
        if magic_kind in ("line", "line_cell"):
            magics._LINES[name] = lambda shell, line: func(line)

    def set_next_input(self, text, replace=False):
        """A front end would show the text. The image has no front end."""


class _Shown:
    """An object with one rich representation, made from text, bytes, a file or a URL."""

    _mime = "text/plain"

    def __init__(self, data=None, url=None, filename=None, metadata=None, **_options):
        if data is None and filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        if data is None and url is not None:
            from urllib.request import urlopen

            with urlopen(url) as reply:
                data = reply.read()
        self.data = data
        self.metadata = metadata

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = self.data
        if isinstance(data, (bytes, bytearray)) and not self._mime.startswith(("image/p", "image/j", "image/g", "application/pdf")):
            data = bytes(data).decode("utf-8", "replace")
        return {self._mime: data}

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


def _shown(name, mime):
    return type(name, (_Shown,), {"_mime": mime, "__module__": "IPython.core.display"})


HTML = _shown("HTML", "text/html")
Markdown = _shown("Markdown", "text/markdown")
Latex = _shown("Latex", "text/latex")
SVG = _shown("SVG", "image/svg+xml")
JSON = _shown("JSON", "application/json")
Javascript = _shown("Javascript", "application/javascript")
Pretty = _shown("Pretty", "text/plain")


class Math(Latex):
    """Mathematics in LaTeX."""

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/latex": f"$\\displaystyle {self.data.strip('$')}$"}


class Image(_Shown):
    """A picture. The format is recognised by its first bytes."""

    _SIGNATURES = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif"}

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = self.data
        if isinstance(data, str):
            return {"image/svg+xml": data} if data.lstrip().startswith("<") else {}
        for signature, mime in self._SIGNATURES.items():
            if bytes(data or b"").startswith(signature):
                return {mime: data}
        return {}


def display(*values, include=None, exclude=None, metadata=None, display_id=None, raw=False, **_options):
    """Displays values in the running cell."""
    for value in values:
        _display.publish(dict(value) if raw else _display.bundle(value))


def clear_output(wait=False):
    """A front end would remove the output so far. The output of a cell cannot be taken back."""


_NAMES = {
    "HTML": HTML,
    "Markdown": Markdown,
    "Latex": Latex,
    "Math": Math,
    "SVG": SVG,
    "JSON": JSON,
    "Javascript": Javascript,
    "Pretty": Pretty,
    "Image": Image,
    "display": display,
    "clear_output": clear_output,
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `IPython` and `IPython.display` after all other finders."""

    def __init__(self, shell):
        self._shell = shell

    def find_spec(self, name, path=None, target=None):
        if name in ("IPython", "IPython.display", "IPython.core", "IPython.core.display", "IPython.core.getipython"):
            return importlib.machinery.ModuleSpec(name, self, is_package=name in ("IPython", "IPython.core"))
        return None

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        shell = self._shell
        if module.__name__ in ("IPython", "IPython.core.getipython"):
            module.get_ipython = lambda: shell
        if module.__name__ == "IPython":
            module.version_info = (9, 0, 0, "")
            module.__version__ = "9.0.0"
        if module.__name__ in ("IPython.display", "IPython.core.display", "IPython"):
            for name, value in _NAMES.items():
                setattr(module, name, value)


def install(shell):
    """Makes the modules available, unless a package `IPython` is installed."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder(shell))
