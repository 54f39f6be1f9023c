// A pipeline of Node and Python in one runtime. A server in Node has orders, and a program in
// Python stores them in a database. A program in Node then starts Python as a child for the report.

import { NodeRuntime } from 'coldframe';

const SERVER = `
import { createServer } from 'node:http';
const orders = [['pen', 3, 1.5], ['book', 1, 12], ['pen', 2, 1.5], ['ink', 4, 0.25]];
createServer((_request, response) => response.end(JSON.stringify(orders))).listen(8080, () => console.log('ready'));
`;

const STORE = `
import json, sqlite3, urllib.request
orders = json.load(urllib.request.urlopen('http://localhost:8080/'))
with sqlite3.connect('/workspace/orders.db') as database:
    database.execute('CREATE TABLE orders (item TEXT, count INTEGER, price REAL)')
    database.executemany('INSERT INTO orders VALUES (?, ?, ?)', orders)
print(len(orders))
`;

const SUM = `
import sqlite3, json
query = 'SELECT item, SUM(count * price) FROM orders GROUP BY item ORDER BY 2 DESC'
print(json.dumps(sqlite3.connect('/workspace/orders.db').execute(query).fetchall()))
`;

const REPORT = `
import { execFileSync } from 'node:child_process';
const rows = JSON.parse(execFileSync('python3', ['/workspace/sum.py'], { encoding: 'utf8' }));
for (const [item, sum] of rows) console.log(item, sum.toFixed(2));
`;

/** Runs the pipeline. Returns the lines of the report. */
export async function runPipeline() {
  const runtime = await NodeRuntime.create({ files: { '/workspace/sum.py': SUM } });
  try {
    const server = await runtime.spawn(SERVER);
    for await (const _ready of server.stdout) break;
    await runtime.exec(STORE, { language: 'python', throwOnError: true });
    const { stdout } = await runtime.exec(REPORT, { throwOnError: true });
    return stdout.trim().split('\n');
  } finally {
    await runtime.dispose();
  }
}
