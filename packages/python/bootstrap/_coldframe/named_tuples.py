"""Tuples with named fields, and tables of lines with colons, for `pwd`, `grp` and `resource`."""

from operator import itemgetter


def make(name, fields):
    """Returns a class of tuples that takes one sequence, as the classes of CPython's own modules."""
    names = fields.split()

    def new(cls, sequence):
        values = tuple(sequence)
        if len(values) != len(names):
            raise TypeError(f"{name}() takes a {len(names)}-sequence ({len(values)}-sequence given)")
        return tuple.__new__(cls, values)

    def show(self):
        return f"{name}({', '.join(f'{field}={value!r}' for field, value in zip(names, self))})"

    module, _, short = name.rpartition(".")
    members = {field: property(itemgetter(at)) for at, field in enumerate(names)}
    members |= {"__slots__": (), "__new__": new, "__repr__": show, "__module__": module}
    members |= {"n_fields": len(names), "n_sequence_fields": len(names), "n_unnamed_fields": 0}
    return type(short, (tuple,), members)


def rows(path, width, numbers):
    """Returns the lines of a table. `numbers` are the columns that are numbers."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as table:
            lines = table.read().split("\n")
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        row = line.split(":")
        if len(row) == width and all(row[column].isdigit() for column in numbers):
            found.append([int(value) if column in numbers else value for column, value in enumerate(row)])
    return found
