"""Writes JSON of nested objects."""

import json
import zlib

DOCUMENT = [
    {"id": number, "name": f"näme {number}", "tags": ["a", "b", None, True], "at": {"x": number / 3, "y": [number] * 5}}
    for number in range(300)
]


def run():
    for _ in range(30):
        text = json.dumps(DOCUMENT)
    return len(text), zlib.crc32(text.encode())
