"""Runs one module of CPython's tests, and prints a line for each test.

The program runs in the sandbox and in the native Python. A line is `@@`, a space and JSON with the
name of the test, its outcome and the last line of its error. Lines are written as soon as a test has
ended, so that a module that does not end has the results of its earlier tests.
"""

import json
import os
import re
import sys
import traceback
import types
import unittest

_LONGEST = 200
_stdout = os.dup(1)


def _write(name, outcome, error=""):
    text = json.dumps([name, outcome, error[:_LONGEST]])
    os.write(_stdout, f"\n@@ {text}\n".encode())


class _Result(unittest.TestResult):
    failed = None

    def startTest(self, test):
        super().startTest(test)
        self.failed = None

    def addError(self, test, error):
        self._fail(test, error)

    def addFailure(self, test, error):
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self._fail(test, error)

    def addSkip(self, test, reason):
        self.failed = self.failed or ("skip", reason)
        if not isinstance(test, unittest.TestCase) or type(test).__name__ == "_ErrorHolder":
            _write(test.id(), *self.failed)

    def addExpectedFailure(self, test, error):
        pass

    def addUnexpectedSuccess(self, test):
        self.failed = ("fail", "unexpected success")

    def _fail(self, test, error):
        text = traceback.format_exception_only(*error[:2])[-1].strip()
        self.failed = ("fail", text.split("\n")[0])
        if type(test).__name__ == "_ErrorHolder":
            _write(test.id(), *self.failed)

    def stopTest(self, test):
        super().stopTest(test)
        _write(test.id(), *(self.failed or ("pass",)))


def _load(name):
    """Loads a module. Extensions in C for tests alone are empty modules for modules that import them first."""
    try:
        return unittest.defaultTestLoader.loadTestsFromName(f"test.{name}")
    except (ImportError, unittest.SkipTest) as error:
        missing = re.search(r"'(_test\w+)'", str(error))
        if missing is None or missing[1] in sys.modules:
            raise
        sys.modules[missing[1]] = types.ModuleType(missing[1])
        sys.modules.pop(f"test.{name}", None)
        return _load(name)


def main(name):
    from test import support

    support.verbose = 0
    try:
        suite = _load(name)
    except unittest.SkipTest as error:
        _write("", "skip", str(error))
        return
    except BaseException as error:
        _write("", "fail", traceback.format_exception_only(error)[-1].strip())
        return
    suite.run(_Result())
    _write("", "end")


sys.path.insert(1, sys.argv[2])
main(sys.argv[1])
