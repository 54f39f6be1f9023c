"""Copies of nested objects by `copy.deepcopy`."""

import copy


class Record:
    def __init__(self, number):
        self.number, self.tags, self.inner = number, ["a", number], {"x": (number, [number])}


def run():
    records = [Record(number) for number in range(400)]
    for _ in range(4):
        records = copy.deepcopy(records)
    return sum(record.inner["x"][1][0] for record in records)
