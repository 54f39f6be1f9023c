"""Runs the cells of a notebook: evaluations with the flag CELL.

A cell shares its namespace with later cells. The value of its last expression is displayed.
"""

import ast
import sys

from . import program


def run(source, name):
    """Runs a cell. Tracebacks show its lines."""
    program.remember_lines(source, name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    namespace = program.main_module().__dict__
    program.run_code(compile(tree, name, "exec", dont_inherit=True), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), namespace)
        sys.displayhook(value)
