"""Pickles and unpickles nested objects."""

import pickle

DOCUMENT = {f"key {number}": [number, str(number), (number, None, 1.5 * number), {"a": number}] for number in range(1_500)}


def run():
    for _ in range(25):
        data = pickle.dumps(DOCUMENT, 4)
        copy = pickle.loads(data)
    return len(data), copy == DOCUMENT
