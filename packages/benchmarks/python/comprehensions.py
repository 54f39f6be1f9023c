"""Comprehensions of lists, sets and dictionaries over records."""


def run():
    total = 0
    for round_ in range(15):
        records = [{"id": n, "kind": n % 13, "size": (n * 31 + round_) % 101} for n in range(3_000)]
        by_kind = {kind: [r["size"] for r in records if r["kind"] == kind] for kind in {r["kind"] for r in records}}
        large = {r["id"] for r in records if r["size"] > 50}
        total += sum(max(sizes) * kind for kind, sizes in by_kind.items()) + len(large)
        total += sum(a * b for a, b in zip(by_kind[1], by_kind[2]))
    return total
