// isomorphic-git: clone, commit, push, branches, merge and wrong passwords.
import fs from 'node:fs';
import git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';

const url = process.env.REPOSITORY;
const dir = `${process.env.HOME ?? '/tmp'}/clone`;
const onAuth = () => ({ username: 'user', password: 'password' });
const author = { name: 'Author', email: 'author@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 };

await git.clone({ fs, http, dir, url, onAuth });
const commits = await git.log({ fs, dir });
console.log('cloned', commits.length, commits[0].commit.message.trim(), commits[0].oid);
console.log('large', fs.statSync(`${dir}/large.bin`).size, fs.readFileSync(`${dir}/file-7.txt`, 'utf8').trim());
console.log(
  'status',
  (await git.statusMatrix({ fs, dir })).every(([, head, work, stage]) => head === 1 && work === 1 && stage === 1),
);

fs.writeFileSync(`${dir}/new.txt`, 'written in the program ☃\n');
await git.add({ fs, dir, filepath: 'new.txt' });
const oid = await git.commit({ fs, dir, message: 'Add a file', author });
console.log('commit', oid);
const pushed = await git.push({ fs, http, dir, onAuth, remote: 'origin', ref: 'main' });
console.log('push', pushed.ok, pushed.refs['refs/heads/main'].ok);
const [branch] = (await git.listServerRefs({ http, url, onAuth, prefix: 'refs/heads/' })).map(({ ref, oid }) => `${ref} ${oid}`);
console.log('remote', branch === `refs/heads/main ${oid}`);
await git.branch({ fs, dir, ref: 'topic', checkout: true });
fs.writeFileSync(`${dir}/file-1.txt`, 'changed\n');
await git.add({ fs, dir, filepath: 'file-1.txt' });
await git.commit({ fs, dir, message: 'Change a file', author });
await git.push({ fs, http, dir, onAuth, ref: 'topic' });
await git.checkout({ fs, dir, ref: 'main' });
await git.merge({ fs, dir, ours: 'main', theirs: 'topic', author });
console.log(
  'merged',
  fs.existsSync(`${dir}/new.txt`),
  (await git.log({ fs, dir, ref: 'main', depth: 1 }))[0].commit.message.trim(),
);
const fetched = await git.fetch({ fs, http, dir, onAuth, ref: 'topic' });
console.log('fetched', fetched.defaultBranch);
await git
  .getRemoteInfo({ http, url, onAuth: () => ({ username: 'user', password: 'wrong' }), onAuthFailure: () => ({ cancel: true }) })
  .catch(({ code }) => console.log('password', code));
await git
  .getRemoteInfo({ http, url: `${url}-missing`, onAuth })
  .catch(({ code, data }) => console.log('missing', code, data.statusCode));
