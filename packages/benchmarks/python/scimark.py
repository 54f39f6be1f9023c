"""Numeric kernels over lists: relaxation, a sparse product, and a Fourier transform."""

from cmath import exp, pi


def relax(size, rounds):
    grid = [[float((i * j) % 7) for j in range(size)] for i in range(size)]
    for _ in range(rounds):
        for i in range(1, size - 1):
            above, row, below = grid[i - 1], grid[i], grid[i + 1]
            for j in range(1, size - 1):
                row[j] = 0.3125 * (above[j] + below[j] + row[j - 1] + row[j + 1]) - 0.25 * row[j]
    return sum(map(sum, grid))


def sparse(size, each):
    rows = [[((i * 31 + k * 17) % size, 1.0 / (k + 1)) for k in range(each)] for i in range(size)]
    vector = [float(i % 11) for i in range(size)]
    for _ in range(8):
        vector = [sum(value * vector[column] for column, value in row) / each for row in rows]
    return sum(vector)


def transform(values):
    if len(values) == 1:
        return values
    even, odd = transform(values[::2]), transform(values[1::2])
    half = len(values) // 2
    turned = [exp(-2j * pi * k / len(values)) * odd[k] for k in range(half)]
    return [a + b for a, b in zip(even, turned)] + [a - b for a, b in zip(even, turned)]


def run():
    spectrum = transform([complex(i % 13, 0) for i in range(1 << 11)])
    return round(relax(70, 12), 6), round(sparse(600, 8), 6), round(sum(map(abs, spectrum)), 4)
