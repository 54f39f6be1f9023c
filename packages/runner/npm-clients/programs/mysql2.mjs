// mysql2: statements, large results, streams, pools and resets.
import { once } from 'node:events';
import { createConnection as connectTcp } from 'node:net';
import mysql from 'mysql2/promise';

const { HOST: host, PORT: port } = process.env;
const resetAll = () => once(connectTcp(process.env.CONTROL, host).resume(), 'close');
const options = { host, port: Number(port), user: 'user', password: 'password', database: 'test' };
const connection = await mysql.createConnection(options);

const [rows] = await connection.execute('SELECT ? AS text, ? + 1 AS number, CAST(? AS DATETIME) AS time', [
  'ä ☃',
  41,
  '2026-01-02 03:04:05',
]);
console.log('execute', rows);
await connection.query('CREATE TEMPORARY TABLE item (id INT AUTO_INCREMENT PRIMARY KEY, name TEXT, data LONGBLOB)');
await connection.beginTransaction();
await connection.query('INSERT INTO item (name, data) VALUES ?', [
  Array.from({ length: 500 }, (_, n) => [`item ${n}`, Buffer.alloc(100, n)]),
]);
await connection.commit();
console.log('inserted', (await connection.query('SELECT COUNT(*) AS count, SUM(LENGTH(data)) AS sum FROM item'))[0]);
const [large] = await connection.query("SELECT seq, REPEAT('x', 1000) AS text FROM seq_1_to_20000");
console.log(
  'large',
  large.length,
  large.reduce((sum, { seq, text }) => sum + seq + text.length, 0),
);
await connection.query('INSERT INTO item (data) VALUES (?)', [Buffer.alloc(6_000_000, 'blob')]);
const [[{ data }]] = await connection.query('SELECT data FROM item ORDER BY id DESC LIMIT 1');
console.log('blob', data.length, data.equals(Buffer.alloc(6_000_000, 'blob')));
let streamed = 0;
for await (const _row of connection.connection.query('SELECT seq FROM seq_1_to_50000').stream()) streamed++;
console.log('stream', streamed);
await connection.query('SELECT * FROM missing').catch(({ code }) => console.log('error', code));
const pool = mysql.createPool({ ...options, connectionLimit: 5 });
const many = await Promise.all(Array.from({ length: 50 }, (_, n) => pool.execute('SELECT ? AS n', [n])));
console.log(
  'pool',
  many.every(([[row]], n) => Number(row.n) === n),
);
connection.on('error', ({ code }) => console.log('connection', code));
const running = connection.query('SELECT SLEEP(60)').catch(({ code }) => console.log('query', code));
await resetAll();
await running;
let after;
for (let attempt = 0; after === undefined && attempt < 6; attempt++) {
  after = await pool.query('SELECT 1 AS one').catch(() => undefined);
}
console.log('after a reset', after[0]);
await pool.end();
await mysql.createConnection({ ...options, password: 'wrong' }).catch(({ code }) => console.log('password', code));
