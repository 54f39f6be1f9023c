"""The spectral norm of an infinite matrix: calls and generator expressions."""

SIZE = 80


def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(vector):
    return [sum(element(i, j) * value for j, value in enumerate(vector)) for i in range(SIZE)]


def transposed(vector):
    return [sum(element(j, i) * value for j, value in enumerate(vector)) for i in range(SIZE)]


def run():
    u = [1.0] * SIZE
    for _ in range(5):
        v = transposed(times(u))
        u = transposed(times(v))
    above = sum(a * b for a, b in zip(u, v))
    return round((above / sum(b * b for b in v)) ** 0.5, 9)
