"""Starts the program that the start block describes. Next: program, command_line."""

import os
import struct
import sys

import _coldframe_host as host

from . import command_line, evaluations, paths, program, renew, texts

_HEADER = struct.Struct("<5I")
_RESTORE_HEADER = struct.Struct("<4Id")


class Start:
    """The start block of docs/internals/guest-abi.md."""

    def __init__(self, block):
        pid, ppid, argument_count, variable_count, option_count = _HEADER.unpack_from(block)
        first, at = texts.decode(block, _HEADER.size, 3)
        self.directory, self.url, self.source = first
        self.arguments, at = texts.decode(block, at, argument_count)
        self.variables, at = texts.decode(block, at, variable_count)
        self.options, at = texts.decode(block, at, option_count)
        self.pid, self.ppid = pid, ppid


def start(mode, block):
    """Runs the program of a start block."""
    begin = Start(block)
    prepare(begin)

    if mode == host.MODE_RESIDENT:
        evaluations.begin()
    elif mode == host.MODE_FILE:
        program.run(lambda: command_line.main(begin.arguments, begin.source))
    else:
        if mode == host.MODE_RUN:
            program.allow_value()
        sys.argv[0] = "-c"
        sys.path.insert(0, "")
        program.run(lambda: program.run_text(begin.source, "<string>"))


def prepare(begin):
    """Makes the process of the start block."""
    renew.environment(begin.variables)
    renew.process(begin.pid, begin.ppid)
    renew.everything()
    paths.add_packages()
    sys.argv = list(begin.arguments) or [""]
    sys.orig_argv = list(sys.argv)
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ


def restore(block):
    """Continues in a copy of a running program: the restore block."""
    pid, ppid, variable_count, _, _ = _RESTORE_HEADER.unpack_from(block)
    variables, _ = texts.decode(block, _RESTORE_HEADER.size, variable_count)
    renew.environment(variables)
    renew.process(pid, ppid)
    renew.everything()
