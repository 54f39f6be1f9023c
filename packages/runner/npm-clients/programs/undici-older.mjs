// Earlier versions of undici load their parser in other ways.
const server = process.env.SERVER;

for (const version of [5, 6, 7]) {
  const { fetch, Pool, request } = await import(`undici-${version}`);
  const json = await request(`${server}/json?${version}`);
  console.log(version, json.statusCode, (await json.body.json()).url);
  const fetched = await fetch(`${server}/redirect`);
  console.log(version, new URL(fetched.url).pathname, (await fetched.json()).method);
  const large = await request(`${server}/large?bytes=2000000`);
  console.log(version, (await large.body.arrayBuffer()).byteLength);
  const pool = new Pool(server, { connections: 2 });
  const many = await Promise.all(Array.from({ length: 10 }, (_, n) => pool.request({ path: `/json?${n}`, method: 'GET' })));
  console.log(
    version,
    (await Promise.all(many.map(({ body }) => body.json()))).every(({ url }, n) => url === `/json?${n}`),
  );
  await pool.close();
  await request(`${server}/reset`).catch(({ code }) => console.log(version, code));
}
