"""Runs the snippets of a resident runner, one after the other, in one namespace.

An evaluation ends when its code has ended. An error ends the evaluation and not the runner.
`SystemExit` and exhausted memory end both. Next: cells, for the evaluations of notebooks.
"""

import os
import struct
import sys

import _coldframe_host as host

from . import cells, program, texts


def begin():
    """Makes the process ready for evaluations. Lines are written at once, as in a terminal."""
    sys.stdout.reconfigure(line_buffering=True)
    sys.argv = [""]
    sys.path.insert(0, "")
    program.allow_value()


def evaluate(id, flags, payload):
    """Runs one evaluation, and reports its end to the sidecar."""
    (count,) = struct.unpack_from("<I", payload)
    settings, at = texts.decode(payload, 4, count)
    source = payload[at:].decode("utf-8", "surrogateescape")
    name = f"<evaluation {id}>"

    host.set_value(None)
    host.evaluation_began(id)
    undo = _apply(settings)
    ends_runner = False
    of_cell = None

    def body():
        nonlocal ends_runner, of_cell
        try:
            if flags & host.EVAL_CELL:
                of_cell = cells.run(source, name)
            else:
                program.run_text(source, name)
        except (SystemExit, MemoryError):
            ends_runner = True
            raise

    code, reason = program.outcome(body)
    if of_cell is not None:
        code, reason = of_cell
    undo()
    if ends_runner:
        program.end(code, reason)
    else:
        program.flush()
        host.evaluation_ended(code, reason)


def _apply(settings):
    """Applies the working directory and the environment of an evaluation. Returns how to undo it."""
    if not settings:
        return lambda: None
    directory, *variables = settings
    earlier = dict(os.environ)
    earlier_directory = os.getcwd() if directory else None
    if directory:
        os.chdir(directory)
    os.environ.clear()
    os.environ.update(texts.split_variable(text) for text in variables)

    def undo():
        os.environ.clear()
        os.environ.update(earlier)
        if earlier_directory is not None:
            os.chdir(earlier_directory)

    return undo
