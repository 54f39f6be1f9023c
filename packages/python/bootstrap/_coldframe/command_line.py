"""Runs a command line of `python3`: the options, and the program that they select.

The interpreter is part of an image that has started already. So an option takes effect on the
process where the interpreter allows this, and the other options are accepted and ignored (`_NONE`).
Next: program.
"""

import importlib.util
import os
import runpy
import site
import sys
import warnings

from . import program

_USAGE = """usage: python3 [option] ... [-c cmd | -m mod | file | -] [arg] ...
Options: -B no .pyc files; -c cmd runs a text; -E ignores PYTHON* variables; -I is -E and -P;
-i continues interactively; -m mod runs a module; -P leaves the program's folder out of sys.path;
-u unbuffered streams; -V version; -W arg filter of warnings; -X opt option of the implementation
"""

# Options without an argument that have no effect here.
_NONE = frozenset("bdhiOqRsSvx")


class Options:
    """The options of a command line, and the program that the line names."""

    def __init__(self):
        self.command = self.module = None
        self.rest = []
        self.isolated = self.safe_path = self.interactive = self.ends = False


def main(arguments, file):
    """Runs the file at the path `file`, or the command line `arguments` if `file` is empty."""
    if file:
        sys.argv = arguments[1:]
        return _run_file(file, Options())
    options = _parse(arguments[1:])
    if options.ends:
        return None
    _apply_environment(options)
    if options.command is not None:
        sys.argv = ["-c", *options.rest]
        _prepend("", options)
        return program.run_text(options.command, "<string>")
    if options.module is not None:
        sys.argv = ["-m", *options.rest]
        _prepend(os.getcwd(), options)
        return runpy._run_module_as_main(options.module)
    if options.rest and options.rest[0] != "-":
        sys.argv = options.rest
        return _run_file(options.rest[0], options)
    sys.argv = options.rest or [""]
    _prepend("", options)
    return _run_input(options)


def _parse(arguments):
    """Reads the options. The first argument that is not an option ends them."""
    options = Options()
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-":
        text = arguments[at]
        at += 1
        if text == "--":
            break
        if text.startswith("--"):
            _parse_long(text, options)
            continue
        for place, letter in enumerate(text[1:], 2):
            if letter in "cmWX":
                value = text[place:]
                if not value:
                    if at == len(arguments):
                        _refuse(f"Argument expected for the -{letter} option")
                    value = arguments[at]
                    at += 1
                if _set_value(letter, value, options):
                    options.rest = arguments[at:]
                    return options
                break
            _set_flag(letter, options)
    options.rest = arguments[at:]
    return options


def _parse_long(text, options):
    if text == "--version":
        _print_version(options)
    elif text.startswith("--help"):
        _set_flag("h", options)
    elif text != "--check-hash-based-pycs":
        _refuse(f"unknown option {text}")


def _set_value(letter, value, options):
    """Sets an option that has a value. Returns whether the other arguments are the program's."""
    if letter == "c":
        options.command = value
        return True
    if letter == "m":
        options.module = value
        return True
    if letter == "W":
        sys.warnoptions.append(value)
        warnings._processoptions([value])
    else:
        name, separator, setting = value.partition("=")
        sys._xoptions[name] = setting if separator else True
    return False


def _set_flag(letter, options):
    if letter == "V":
        _print_version(options)
    elif letter in "?h":
        sys.stdout.write(_USAGE)
        options.ends = True
    elif letter in "EI":
        options.isolated = True
        options.safe_path = options.safe_path or letter == "I"
    elif letter == "P":
        options.safe_path = True
    elif letter == "B":
        sys.dont_write_bytecode = True
    elif letter == "u":
        sys.stdout.reconfigure(line_buffering=True, write_through=True)
        sys.stderr.reconfigure(write_through=True)
    elif letter == "i":
        options.interactive = True
    elif letter not in _NONE:
        _refuse(f"Unknown option: -{letter}")


def _print_version(options):
    if not options.ends:
        print("Python", sys.version.split()[0])
    options.ends = True


def _refuse(message):
    sys.stderr.write(f"{message}\n{_USAGE}")
    raise SystemExit(2)


def _apply_environment(options):
    """Applies the variables that name folders of modules and filters of warnings."""
    if options.isolated:
        return
    folders = os.environ.get("PYTHONPATH", "")
    sys.path[:0] = [folder for folder in folders.split(os.pathsep) if folder]
    if folders:
        # pip passes the folders of a build's requirements in this way.
        site.execsitecustomize()
    filters = [text.strip() for text in os.environ.get("PYTHONWARNINGS", "").split(",") if text.strip()]
    if filters:
        sys.warnoptions[:0] = filters
        warnings._processoptions(filters)


def _prepend(folder, options):
    if not options.safe_path:
        sys.path.insert(0, folder)


def _run_file(path, options):
    """Runs a script, or the `__main__` of a folder or of an archive."""
    if os.path.isdir(path) or _is_archive(path):
        sys.path.insert(0, path)
        return runpy._run_module_as_main("__main__", alter_argv=False)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        name = sys.orig_argv[0] if sys.orig_argv else "python3"
        sys.stderr.write(f"{name}: can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] {error.strerror}\n")
        raise SystemExit(2) from None
    _prepend(os.path.dirname(os.path.realpath(path)), options)
    main = program.main_module()
    full = os.path.abspath(path)
    main.__file__ = full
    main.__cached__ = None
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", full)
    return program.run_code(compile(source, full, "exec", dont_inherit=True), main.__dict__)


def _is_archive(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def _run_input(options):
    """Runs the program that stdin has, or converses with a user at a terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return program.run_text(sys.stdin.buffer.read().decode("utf-8") if sys.stdin else "", "<stdin>")
    import code

    console = code.InteractiveConsole(program.main_module().__dict__, filename="<stdin>")
    banner = f'Python {sys.version} on {sys.platform}\nType "help", "copyright", "credits" or "license" for more information.'
    return console.interact(banner, exitmsg="")
