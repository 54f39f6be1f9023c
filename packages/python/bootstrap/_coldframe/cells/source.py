"""Turns the magics of a cell into Python: `%name`, `%%name`, `!command`, `name = !command` and `?`.

A line is a magic only where a statement may begin and only if the cell is no Python without this
step. So `%` and `!` inside strings and expressions stay. Next: `magics.py`, which runs the magics.
"""

import ast
import io
import re
import tokenize

_ASSIGNED = re.compile(r"^(\s*)([A-Za-z_][\w, ]*?)\s*=\s*([!%])(.*)$")
_MAGIC = re.compile(r"^(\s*)([!%])(.*)$")
_HELP = re.compile(r"^\s*(?:\?{1,2}\s*([\w.]+)|([\w.]+)\s*\?{1,2})\s*$")


def transformed(code):
    """Returns the cell as Python."""
    code = _without_indentation(code)
    if code.lstrip().startswith("%%"):
        return _cell_magic(code.lstrip())
    if not any(sign in code for sign in "%!?"):
        return code
    try:
        ast.parse(code)
        return code
    except SyntaxError:
        pass
    lines = code.split("\n")
    inside = _lines_inside_brackets_and_strings(lines)
    return "\n".join(line if number in inside else _line(line) for number, line in enumerate(lines, 1))


def _without_indentation(code):
    """Removes the indentation of the first line from all lines, as IPython does."""
    first = next((line for line in code.split("\n") if line.strip()), "")
    indentation = first[: len(first) - len(first.lstrip())]
    if not indentation:
        return code
    return "\n".join(line.removeprefix(indentation) for line in code.split("\n"))


def is_silent(code):
    """Returns whether a semicolon ends the cell, so that the last value is not shown."""
    last = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.DEDENT):
                last = token
    except (tokenize.TokenError, SyntaxError):
        return False
    return last is not None and last.type == tokenize.OP and last.string == ";"


def _cell_magic(code):
    head, _, body = code.partition("\n")
    name, _, rest = head[2:].strip().partition(" ")
    return f"get_ipython().run_cell_magic({name!r}, {rest.strip()!r}, {body!r})"


def _line(line):
    found = _HELP.match(line)
    if found:
        return f"get_ipython().show_help({(found[1] or found[2])!r})"
    found = _ASSIGNED.match(line)
    if found:
        indent, name, sign, rest = found.groups()
        return f"{indent}{name} = {_call(sign, rest, captures=True)}"
    found = _MAGIC.match(line)
    if found:
        indent, sign, rest = found.groups()
        return indent + _call(sign, rest, captures=False)
    return line


def _call(sign, rest, captures):
    if sign == "!":
        method = "getoutput" if captures or rest.startswith("!") else "system"
        return f"get_ipython().{method}(get_ipython().expanded({rest.lstrip('!').strip()!r}))"
    name, _, arguments = rest.strip().partition(" ")
    return f"get_ipython().run_line_magic({name!r}, {arguments.strip()!r})"


def _lines_inside_brackets_and_strings(lines):
    """Returns the numbers of lines that continue a bracket, a string or a line before."""
    plain = "\n".join("pass" if _MAGIC.match(line) or _ASSIGNED.match(line) or _HELP.match(line) else line for line in lines)
    inside = set()
    depth, before = 0, None
    try:
        for token in tokenize.generate_tokens(io.StringIO(plain).readline):
            if depth > 0 and token.start[0] != before:
                inside.add(token.start[0])
            if token.type == tokenize.STRING:
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
            if token.type == tokenize.OP:
                depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
            before = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    for number, line in enumerate(lines, 1):
        if line.endswith("\\"):
            inside.add(number + 1)
    return inside
