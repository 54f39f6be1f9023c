"""A game of chaos over splines: properties, operators and random numbers."""

import random

STEPS = 20_000


class Vector:
    def __init__(self, x=0.0, y=0.0):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    @property
    def length(self):
        return (self.x**2 + self.y**2) ** 0.5


def curve(points, at):
    while len(points) > 1:
        points = [a * (1 - at) + b * at for a, b in zip(points, points[1:])]
    return points[0]


def run():
    choice = random.Random(1234)
    corners = [[Vector(0, 0), Vector(1, 2)], [Vector(2, 0), Vector(0, 1)], [Vector(1, 1), Vector(2, 2)]]
    point, total = Vector(0.5, 0.5), 0.0
    for _ in range(STEPS):
        spline = corners[choice.randrange(3)]
        point = (point + curve(spline, choice.random())) * 0.5
        total += point.length
    return round(total, 6)
