"""The magics of cells. A magic that IPython has and this module does not have raises `UsageError`."""

import os
import shlex
import subprocess
import sys
import time


class UsageError(Exception):
    """A magic was used wrongly, or does not exist."""

    # A traceback prints the name of the error without a module.
    __module__ = "builtins"


def line_magic(shell, name, line):
    """Runs `%name line`."""
    magic = _LINES.get(name)
    if magic is None:
        raise UsageError(f"Line magic function `%{name}` not found.")
    return magic(shell, line)


def cell_magic(shell, name, line, body):
    """Runs `%%name line` on the other lines of the cell."""
    magic = _CELLS.get(name)
    if magic is None:
        raise UsageError(f"Cell magic `%%{name}` not found.")
    return magic(shell, line, body)


def system(command, input=None):
    """Runs a command of the shell with the output of the cell. Returns the exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    return subprocess.run(command, shell=True, input=input, text=True).returncode


def _cd(shell, line):
    path = os.path.expanduser(line.strip().strip("'\"") or "~")
    if path == "-":
        path = shell.user_ns.get("_oldpwd", os.getcwd())
    shell.user_ns["_oldpwd"] = os.getcwd()
    os.chdir(path)
    print(os.getcwd())


def _pwd(shell, line):
    return os.getcwd()


def _env(shell, line):
    name, sign, value = line.partition("=")
    if not sign:
        name, sign, value = line.partition(" ")
    name, value = name.strip(), value.strip()
    if not name:
        return dict(os.environ)
    if not sign:
        if name not in os.environ:
            raise UsageError(f"Environment does not have key: {name}")
        return os.environ[name]
    os.environ[name] = value
    print(f"env: {name}={value}")


def _pip(shell, line):
    code = system(shlex.join([sys.executable or "python3", "-m", "pip"]) + " " + line)
    if code != 0:
        raise UsageError(f"pip ended with exit code {code}")


def _time(shell, line):
    return _timed(shell, line)


def _cell_time(shell, line, body):
    return _timed(shell, body)


def _timed(shell, code):
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        return shell.evaluate(code)
    finally:
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(f"CPU times: total: {_duration(cpu)}\nWall time: {_duration(wall)}")


def _timeit(shell, line, body=""):
    import timeit

    timer = timeit.Timer(body or line, setup=line if body else "pass", globals=shell.user_ns)
    loops, _ = timer.autorange()
    best = min(timer.repeat(3, loops)) / loops
    print(f"{_duration(best)} per loop (best of 3, {loops:,} loops each)")


def _duration(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _nothing(shell, line):
    """The magics that configure a front end, which the image does not have."""


def _who(shell, line):
    hidden = {"In", "Out", "display", "get_ipython"}
    names = sorted(name for name in shell.user_ns if not name.startswith("_") and name not in hidden)
    print("  ".join(names) or "Interactive namespace is empty.")


def _reset(shell, line):
    shell.reset()


def _run(shell, line):
    import runpy

    words = shlex.split(line)
    if not words:
        raise UsageError("%run needs the path of a file")
    saved, sys.argv = sys.argv, words
    try:
        names = runpy.run_path(words[0], run_name="__main__")
    finally:
        sys.argv = saved
    shell.user_ns.update({name: value for name, value in names.items() if not name.startswith("__")})


def _shell_cell(shell, line, body):
    sys.stdout.flush()
    code = subprocess.run(["bash", "-s", *shlex.split(line)], input=body, text=True).returncode
    if code != 0:
        raise subprocess.CalledProcessError(code, "bash")


def _write_file(shell, line, body):
    words = shlex.split(line)
    appends = "-a" in words
    paths = [word for word in words if word != "-a"]
    if len(paths) != 1:
        raise UsageError("%%writefile needs the path of one file")
    path = os.path.expanduser(paths[0])
    existed = os.path.exists(path)
    with open(path, "a" if appends else "w", encoding="utf-8") as file:
        file.write(body if body.endswith("\n") or not body else body + "\n")
    print(f"{'Appending to' if appends else 'Overwriting' if existed else 'Writing'} {paths[0]}")


def _capture(shell, line, body):
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        shell.evaluate(body)


def _shown_as(kind):
    def show(shell, line, body):
        from . import ipython

        shell.display(getattr(ipython, kind)(body))

    return show


def _javascript(shell, line, body):
    code = subprocess.run(["node", "-e", body]).returncode
    if code != 0:
        raise subprocess.CalledProcessError(code, "node")


_LINES = {
    "cd": _cd,
    "pwd": _pwd,
    "env": _env,
    "set_env": _env,
    "pip": _pip,
    "time": _time,
    "timeit": _timeit,
    "who": _who,
    "reset": _reset,
    "run": _run,
    "ls": lambda shell, line: system("ls " + line) and None,
    "cat": lambda shell, line: system("cat " + line) and None,
    "mkdir": lambda shell, line: system("mkdir " + line) and None,
    "matplotlib": _nothing,
    "config": _nothing,
    "load_ext": _nothing,
    "reload_ext": _nothing,
    "autoreload": _nothing,
    "colors": _nothing,
    "xmode": _nothing,
    "precision": _nothing,
}

_CELLS = {
    "bash": _shell_cell,
    "sh": _shell_cell,
    "script": _shell_cell,
    "writefile": _write_file,
    "file": _write_file,
    "time": _cell_time,
    "timeit": _timeit,
    "capture": _capture,
    "html": _shown_as("HTML"),
    "HTML": _shown_as("HTML"),
    "markdown": _shown_as("Markdown"),
    "latex": _shown_as("Latex"),
    "svg": _shown_as("SVG"),
    "SVG": _shown_as("SVG"),
    "node": _javascript,
}
