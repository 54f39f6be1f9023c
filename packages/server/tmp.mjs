import { Sandbox } from 'e2b';
const c = { apiKey: 'e2b_'+'0'.repeat(40), apiUrl: 'http://127.0.0.1:3999', sandboxUrl: 'http://127.0.0.1:3999' };
const s = await Sandbox.create({...c, envs: {A: '1'}});
for (const [cmd,o] of [['echo $A-$B', {envs:{B:'2'}, cwd:'/tmp'}], ['echo $A-$B', {envs:{B:'2'}}], ['pwd',{cwd:'/tmp'}], ['echo $A']])
 try { console.log(await s.commands.run(cmd,o)); } catch (e) { console.log(cmd, o, String(e)); }
await s.kill();
