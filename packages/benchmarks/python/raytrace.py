"""Rays that hit spheres: methods of vectors and floats."""

from math import sqrt

WIDTH, HEIGHT = 64, 48


class Vector:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def scaled(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def unit(self):
        return self.scaled(1 / sqrt(self.dot(self)))


class Sphere:
    def __init__(self, center, radius, shine):
        self.center, self.radius, self.shine = center, radius, shine

    def hit(self, origin, ray):
        to_center = self.center - origin
        along = to_center.dot(ray)
        rest = self.radius**2 - to_center.dot(to_center) + along * along
        return along - sqrt(rest) if rest > 0 else None


def light(spheres, origin, ray, depth):
    hits = [(distance, sphere) for sphere in spheres if (distance := sphere.hit(origin, ray)) is not None and distance > 1e-6]
    if not hits:
        return 0.2 + 0.1 * ray.y
    distance, sphere = min(hits, key=lambda hit: hit[0])
    point = origin + ray.scaled(distance)
    normal = (point - sphere.center).unit()
    shade = max(0.0, normal.dot(Vector(0.5, 0.7, -0.5)))
    if depth and sphere.shine:
        mirrored = ray - normal.scaled(2 * ray.dot(normal))
        shade += sphere.shine * light(spheres, point, mirrored, depth - 1)
    return shade


def run():
    spheres = [Sphere(Vector(i - 2, (i * i) % 3 - 1, 6 + i % 2), 0.8, 0.1 * i) for i in range(5)]
    eye, total = Vector(0, 0, -3), 0.0
    for row in range(HEIGHT):
        for column in range(WIDTH):
            ray = Vector((column - WIDTH / 2) / WIDTH, (row - HEIGHT / 2) / HEIGHT, 1.0).unit()
            total += light(spheres, eye, ray, 2)
    return round(total, 6)
