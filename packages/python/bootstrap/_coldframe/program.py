"""Runs the code of a program, reports the error that the code does not catch, and ends the program.

The module does what CPython's own `main` does in C. Frames of this module do not appear in the
tracebacks of programs. Next: command_line, for programs that are files.
"""

import atexit
import builtins
import json
import linecache
import sys
import threading
import traceback

import _coldframe_host as host

_INTERRUPTED = 130


def run(body):
    """Calls `body`, which runs the code of the program, and ends the program."""
    end(*outcome(body))


def end(code, reason):
    """Runs what a program left for its end, and ends it with an exit code and a reason."""
    ended, late = outcome(_finish)
    if reason == host.REASON_NORMAL and late != host.REASON_NORMAL:
        code, reason = ended, late
    if not flush() and code == 0:
        code = 120
    host.program_ended(code, reason)


def outcome(body):
    """Calls `body`. Returns the exit code and the reason, and reports an error on stderr."""
    try:
        body()
    except SystemExit as error:
        return _exit_code(error), host.REASON_NORMAL
    except KeyboardInterrupt as error:
        _report(error)
        return _INTERRUPTED, host.REASON_UNCAUGHT
    except MemoryError as error:
        _report(error)
        return host.EXIT_MEMORY, host.REASON_MEMORY
    except BaseException as error:
        _report(error)
        return 1, host.REASON_UNCAUGHT
    return 0, host.REASON_NORMAL


def main_module():
    """Returns the module `__main__`."""
    return sys.modules["__main__"]


def run_text(source, name):
    """Runs a text as the module `__main__`. Tracebacks show its lines."""
    remember_lines(source, name)
    code = compile(source, name, "exec", dont_inherit=True)
    run_code(code, main_module().__dict__)


def run_code(code, namespace):
    """Runs code of the user."""
    host.mark()
    exec(code, namespace)


def remember_lines(source, name):
    """Keeps the lines of a text that is not a file, for tracebacks."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)


def allow_value():
    """Gives programs the function `__return`."""
    builtins.__return = _return


def _return(value):
    """Returns a value to the embedder. The value must have a form in JSON."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    host.set_value(text.encode("utf-8", "surrogatepass"))


_return.__name__ = _return.__qualname__ = "__return"


def _finish():
    """Waits for threads, and calls the handlers of `atexit`."""
    threading._shutdown()
    atexit._run_exitfuncs()


def flush():
    """Writes what the standard streams still hold. Returns whether this succeeded."""
    succeeded = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            succeeded = False
    return succeeded


def _exit_code(error):
    """Returns the exit code of `SystemExit`, and writes a message that is not a number."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _report(error):
    """Writes the traceback of an error through `sys.excepthook`."""
    trace = error.__traceback__
    while trace is not None and _is_own(trace.tb_frame):
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_exc = error
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit:
        raise
    except BaseException as second:
        sys.stderr.write("Error in sys.excepthook:\n")
        traceback.print_exception(second)
        sys.stderr.write("\nOriginal exception was:\n")
        traceback.print_exception(error)


_OWN_FOLDER = __file__.rpartition("/")[0]


def _is_own(frame):
    """Tests whether a frame is the bootstrap's or of a module that runs programs."""
    name = frame.f_code.co_filename
    return name.startswith(_OWN_FOLDER) or name == "<frozen runpy>"
