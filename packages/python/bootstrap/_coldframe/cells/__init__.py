"""Cells of a notebook: one namespace, and the value of the last expression of each cell.

A cell behaves as in Jupyter as far as clients of `run_code` observe: `display`, rich
representations, `In` and `Out`, `await` outside functions, magics and clean tracebacks. IPython is
not part of the image, because a cell of IPython takes four times as long. A program that imports
`IPython.display` gets the names of `ipython.py`.

The result of a cell is a dictionary that the SDK reads as JSON: `results`, each with `isMain` and
`data` by MIME type, `thrown` with `name`, `message` and `stack`, `earlier` and `droppedErrors`. The
shape is the one of cells of JavaScript.

Next: `source.py`, which turns magics into Python; then `display.py`.
"""

import ast
import asyncio
import inspect
import json
import linecache
import sys

import _coldframe_host as host

from .. import program
from . import display, ipython, source
from .errors import described

__all__ = ["Cells", "run"]

_notebook = None


def run(source, name):
    """Runs a cell of the process's notebook: an evaluation with the flag CELL.

    Returns the exit code and the reason of the evaluation. The result is the evaluation's value.
    """
    global _notebook
    if _notebook is None:
        _notebook = Cells(program.main_module())
    host.mark()
    result = _notebook.run(source)
    host.set_value(json.dumps(result).encode())
    return (1, host.REASON_UNCAUGHT) if "thrown" in result else (0, host.REASON_NORMAL)


class Cells:
    """The state of one notebook."""

    def __init__(self, main):
        self._count = 0
        self._results = []
        self._loop = None
        self._after = []
        self.namespace = main.__dict__
        self._main = main
        self.namespace.update(In=[""], Out={}, _="", __="", ___="", display=self.display, get_ipython=lambda: self.shell)
        self.shell = ipython.Shell(self)
        ipython.install(self.shell)

    def run(self, code):
        """Runs a cell. Returns the dictionary that the module describes.

        `SystemExit` and `MemoryError` end the process.
        """
        self._count += 1
        self._results = []
        thrown = None
        sys.modules["__main__"] = self._main
        sys.displayhook = self._show_value
        display.publish = self._publish
        try:
            self._execute(code, f"<cell {self._count}>")
        except (SystemExit, MemoryError):
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) or isinstance(error, (Exception, KeyboardInterrupt)):
                thrown = described(error)
            else:
                raise
        finally:
            self._finish()
        result = {"results": self._results, "earlier": [], "droppedErrors": 0}
        if thrown is not None:
            result["thrown"] = thrown
        return result

    def display(self, *values, include=None, exclude=None, metadata=None, display_id=None, raw=False, clear=False):
        """Displays values. This is the function `display` of cells."""
        for value in values:
            self._publish(dict(value) if raw else display.bundle(value))

    def after_cell(self, hook):
        """Registers a function that runs after each cell, for example to show open figures."""
        if hook not in self._after:
            self._after.append(hook)

    def _execute(self, code, name, remember=True):
        text = source.transformed(code)
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        if remember:
            self.namespace["In"].append(code)
        tree = ast.parse(text, name)
        body, last = tree.body, []
        if body and isinstance(body[-1], ast.Expr) and not source.is_silent(text):
            last = [body.pop()]
        for part, mode in ((ast.Module(body, []), "exec"), (ast.Interactive(last), "single")):
            if part.body:
                self._evaluate(compile(part, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True))

    def _evaluate(self, compiled):
        if not compiled.co_flags & inspect.CO_COROUTINE:
            exec(compiled, self.namespace)
            return
        # One loop serves all cells, so a task of one cell continues while a later cell waits.
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(eval(compiled, self.namespace))

    def _show_value(self, value):
        if value is None:
            return
        names = self.namespace
        names["___"], names["__"], names["_"] = names["__"], names["_"], value
        names["Out"][self._count] = value
        names[f"_{self._count}"] = value
        self._publish(display.bundle(value), is_main=True)

    def _publish(self, data, is_main=False):
        texts = display.texts(data)
        if texts:
            self._results.append({"isMain": is_main, "data": texts})

    def _finish(self):
        for hook in self._after:
            try:
                hook()
            except Exception as error:
                sys.stderr.write(described(error)["stack"] + "\n")
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
