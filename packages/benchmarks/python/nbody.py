"""Gravity between five bodies: arithmetic of floats in nested loops."""

from math import sqrt

STEPS = 6_000


def bodies():
    return [
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 39.47],
        [[4.84, -1.16, -0.10], [0.606, 2.811, -0.02], 0.037],
        [[8.34, 4.12, -0.40], [-1.01, 1.82, 0.008], 0.011],
        [[12.89, -15.11, -0.22], [1.08, 0.868, -0.01], 0.0017],
        [[15.37, -25.9, 0.179], [0.979, 0.594, -0.034], 0.002],
    ]


def run():
    system = bodies()
    pairs = [(a, b) for i, a in enumerate(system) for b in system[i + 1 :]]
    for _ in range(STEPS):
        for (p, v, m), (q, w, n) in pairs:
            x, y, z = p[0] - q[0], p[1] - q[1], p[2] - q[2]
            square = x * x + y * y + z * z
            force = 0.001 / (square * sqrt(square))
            v[0] -= x * n * force
            v[1] -= y * n * force
            v[2] -= z * n * force
            w[0] += x * m * force
            w[1] += y * m * force
            w[2] += z * m * force
        for p, v, _ in system:
            p[0] += 0.001 * v[0]
            p[1] += 0.001 * v[1]
            p[2] += 0.001 * v[2]
    return round(sum(coordinate for p, _, _ in system for coordinate in p), 9)
