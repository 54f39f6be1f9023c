// pg: queries, large results, cursors, cancellations, notifications, pools and resets.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import pg from 'pg';
import Cursor from 'pg-cursor';

const { HOST: host, PORT: port } = process.env;
const resetAll = () => once(createConnection(process.env.CONTROL, host).resume(), 'close');
const options = { host, port, user: 'postgres', password: 'password', database: 'postgres' };
const client = new pg.Client(options);
await client.connect();

const { rows } = await client.query('SELECT $1::text AS text, $2::int + 1 AS number, $3::jsonb AS json, now() > $4 AS later', [
  'ä ☃',
  41,
  { a: [1, 2] },
  new Date(0),
]);
console.log('query', rows[0]);
await client.query('CREATE TEMP TABLE item (id serial PRIMARY KEY, name text, data bytea)');
await client.query('BEGIN');
for (let n = 0; n < 500; n++) {
  await client.query({
    name: 'add',
    text: 'INSERT INTO item (name, data) VALUES ($1, $2)',
    values: [`item ${n}`, Buffer.alloc(100, n)],
  });
}
await client.query('COMMIT');
console.log('inserted', (await client.query('SELECT count(*), sum(length(data)) FROM item')).rows[0]);
const large = await client.query("SELECT n, repeat('x', 1000) AS text FROM generate_series(1, 20000) AS n");
console.log(
  'large',
  large.rows.length,
  large.rows.reduce((sum, { n, text }) => sum + n + text.length, 0),
);
const bytes = await client.query("SELECT decode(repeat('ab', 8000000), 'hex') AS bytes");
console.log(
  'bytes',
  bytes.rows[0].bytes.length,
  bytes.rows[0].bytes.every((byte) => byte === 0xab),
);
const cursor = client.query(new Cursor('SELECT n FROM generate_series(1, 100000) AS n'));
let [read, batches] = [0, 0];
for (let batch = await cursor.read(5000); batch.length > 0; batch = await cursor.read(5000)) {
  read += batch.length;
  batches++;
}
await cursor.close();
console.log('cursor', read, batches);
await client.query('SELECT * FROM missing').catch(({ code, message }) => console.log('error', code, message));

// A cancellation uses a second connection.
const other = new pg.Client(options);
await other.connect();
const [{ pid }] = (await other.query('SELECT pg_backend_pid() AS pid')).rows;
const sleeping = other.query('SELECT pg_sleep(60)').catch(({ code }) => console.log('cancelled', code));
while (
  !(
    await client.query('SELECT pg_cancel_backend($1) AS done FROM pg_stat_activity WHERE pid = $1 AND state = $2', [
      pid,
      'active',
    ])
  ).rowCount
);
await sleeping;
await other.query('LISTEN news');
const notified = once(other, 'notification');
await client.query("SELECT pg_notify('news', 'payload')");
console.log('notification', (await notified)[0].payload);
await other.end();

const pool = new pg.Pool({ ...options, max: 5 });
const idle = [];
pool.on('error', ({ code }) => idle.push(code));
const many = await Promise.all(Array.from({ length: 50 }, (_, n) => pool.query('SELECT $1::int AS n', [n])));
console.log(
  'pool',
  many.every(({ rows: [row] }, n) => row.n === n),
  pool.totalCount,
);
const ended = new Promise((resolve) => client.once('end', resolve));
const errors = [];
client.on('error', ({ code, message }) => errors.push(code ?? message));
const running = client.query('SELECT pg_sleep(60)').catch(({ code, message }) => console.log('query', code ?? message));
await resetAll();
await Promise.all([running, ended]);
console.log('errors', errors, idle);
console.log('after a reset', (await pool.query('SELECT 1 AS one')).rows);
await pool.end();
await new pg.Client({ ...options, password: 'wrong' }).connect().catch(({ code }) => console.log('password', code));
