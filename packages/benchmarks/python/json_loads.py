"""Reads JSON of nested objects."""

import json

TEXT = json.dumps(
    [{"id": number, "name": f"näme {number}", "tags": ["a", None, True], "at": {"x": number / 3}} for number in range(400)]
)


def run():
    for _ in range(40):
        document = json.loads(TEXT)
    return len(document), round(sum(item["at"]["x"] for item in document), 6)
