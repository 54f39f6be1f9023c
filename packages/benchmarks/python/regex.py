"""Regular expressions over a text: searches, groups and replacements."""

import re

LINES = [f"2026-{n % 12 + 1:02}-{n % 28 + 1:02} host{n % 7} user{n}@example.org GET /a/{n}?q={n * n} {n % 5}00" for n in range(1_500)]
TEXT = "\n".join(LINES)
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
MAIL = re.compile(r"\b([\w.]+)@([\w.]+)\b")
QUERY = re.compile(r"GET (?P<path>/[^ ?]*)\?q=(?P<q>\d+) (?P<status>[45]00)$", re.MULTILINE)


def run():
    total = 0
    for _ in range(6):
        total += sum(int(day) for _, _, day in DATE.findall(TEXT))
        total += len(MAIL.sub(r"\2 at \1", TEXT))
        total += sum(int(found["q"]) for found in QUERY.finditer(TEXT))
    return total
