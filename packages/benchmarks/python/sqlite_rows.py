"""Rows of SQLite in memory: inserts, an index, and queries with groups."""

import sqlite3


def run():
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, kind INTEGER, price REAL)")
    rows = ((n, f"item {n * 7_919 % 10_007}", n % 37, n * 0.25) for n in range(20_000))
    database.executemany("INSERT INTO item VALUES (?, ?, ?, ?)", rows)
    database.execute("CREATE INDEX by_name ON item (name)")
    sums = database.execute("SELECT kind, SUM(price), COUNT(*) FROM item GROUP BY kind ORDER BY 2 DESC").fetchall()
    found = [database.execute("SELECT COUNT(*) FROM item WHERE name = ?", (f"item {n}",)).fetchone()[0] for n in range(2_000)]
    database.close()
    return sums[0], sum(found)
