"""The functions `os.spawnv` and its relatives, which CPython defines over `fork` and `exec`."""

import os

from . import processes

_NOT_FOUND = 127


def _spawn(mode, file, arguments, variables, in_path):
    if not isinstance(arguments, (tuple, list)):
        raise TypeError("argv must be a tuple or a list")
    if not arguments or not arguments[0]:
        raise ValueError("argv first element cannot be empty")
    if variables is not None:
        variables = [os.fsencode(name) + b"=" + os.fsencode(value) for name, value in variables.items()]
    name = os.fsencode(file)
    folders = os.get_exec_path() if in_path and b"/" not in name else [b""]
    for folder in folders:
        path = os.path.join(os.fsencode(folder), name)
        try:
            pid = processes.spawn(path, [os.fsencode(text) for text in arguments], variables)
        except OSError:
            continue
        if mode == P_NOWAIT:
            return pid
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)
    if mode == P_NOWAIT:
        # A child that cannot begin ends with this code, as after `fork` and a failed `exec`.
        return processes.spawn(b"/bin/sh", [b"sh", b"-c", b"exit 127"])
    return _NOT_FOUND


def spawnv(mode, file, args):
    return _spawn(mode, file, args, None, False)


def spawnve(mode, file, args, env):
    return _spawn(mode, file, args, env, False)


def spawnvp(mode, file, args):
    return _spawn(mode, file, args, None, True)


def spawnvpe(mode, file, args, env):
    return _spawn(mode, file, args, env, True)


def spawnl(mode, file, *args):
    return spawnv(mode, file, args)


def spawnle(mode, file, *args):
    return spawnve(mode, file, args[:-1], args[-1])


def spawnlp(mode, file, *args):
    return spawnvp(mode, file, args)


def spawnlpe(mode, file, *args):
    return spawnvpe(mode, file, args[:-1], args[-1])


P_WAIT, P_NOWAIT = 0, 1


def install():
    """Adds the functions to `os`."""
    os.P_WAIT, os.P_NOWAIT, os.P_NOWAITO = P_WAIT, P_NOWAIT, P_NOWAIT
    for function in (spawnv, spawnve, spawnvp, spawnvpe, spawnl, spawnle, spawnlp, spawnlpe):
        setattr(os, function.__name__, function)
        os.__all__.append(function.__name__)
    os.__all__.extend(["P_WAIT", "P_NOWAIT", "P_NOWAITO"])


install()
