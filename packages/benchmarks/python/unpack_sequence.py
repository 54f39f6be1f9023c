"""Assigns the items of tuples and lists to names."""


def run():
    pair, items, total = (1, 2, 3, 4, 5), [6, 7, 8, 9, 10], 0
    for _ in range(250_000):
        a, b, c, d, e = pair
        f, g, h, i, j = items
        a, b = b, a
        total += a + j
    return total
