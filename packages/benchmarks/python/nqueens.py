"""Places queens on a board: recursion with generators and sets."""

SIZE = 7


def places(row, columns, rising, falling):
    if row == SIZE:
        yield ()
        return
    for column in range(SIZE):
        if column in columns or row + column in rising or row - column in falling:
            continue
        for rest in places(row + 1, columns | {column}, rising | {row + column}, falling | {row - column}):
            yield (column, *rest)


def run():
    found = list(places(0, frozenset(), frozenset(), frozenset()))
    return len(found), found[0], found[-1]
