"""Many small objects with floats: construction, attributes and functions of `math`."""

from math import cos, sin, sqrt

POINTS = 25_000


class Point:
    __slots__ = ("x", "y", "z")

    def __init__(self, angle):
        self.x = x = sin(angle)
        self.y = cos(angle) * 3
        self.z = (x * x) / 2

    def normalize(self):
        length = sqrt(self.x * self.x + self.y * self.y + self.z * self.z)
        self.x, self.y, self.z = self.x / length, self.y / length, self.z / length

    def larger(self, other):
        self.x, self.y, self.z = max(self.x, other.x), max(self.y, other.y), max(self.z, other.z)
        return self


def run():
    points = [Point(number) for number in range(POINTS)]
    for point in points:
        point.normalize()
    largest = points[0]
    for point in points[1:]:
        largest = largest.larger(point)
    return round(largest.x, 9), round(largest.y, 9), round(largest.z, 9)
