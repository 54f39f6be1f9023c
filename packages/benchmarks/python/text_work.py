"""Words of a text: splits, joins, counts, formats and sorts."""

from collections import Counter


def run():
    text = " ".join(f"wörd{n * n % 997} and {n % 10:>3}" for n in range(12_000))
    counts = Counter(word.strip().lower() for word in text.split())
    table = "\n".join(f"{word:<12}{count:>6}" for word, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    return len(table), len(text.replace("and", "or").encode()), table[:40]
