// A small service as people write them: JSON over HTTP, a stream, a file, and a WebSocket that tells of changes.

import { createReadStream } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import express from 'express';
import { WebSocketServer } from 'ws';

const app = express();
const notes = new Map();
const watchers = new WebSocketServer({ noServer: true });

app.use(express.json());
app.get('/notes', (_request, response) => response.json([...notes.values()]));
app.get('/notes/:id', (request, response) => {
  const note = notes.get(Number(request.params.id));
  if (note) response.json(note);
  else response.status(404).json({ error: `no note ${request.params.id}` });
});
app.post('/notes', async (request, response) => {
  const note = { id: notes.size + 1, text: String(request.body.text) };
  notes.set(note.id, note);
  await appendFile('notes.log', `${JSON.stringify(note)}\n`);
  for (const socket of watchers.clients) socket.send(JSON.stringify(note));
  response.status(201).location(`/notes/${note.id}`).json(note);
});
app.get('/log', (_request, response) => createReadStream('notes.log').pipe(response.type('text/plain')));
app.get('/broken', () => {
  throw new Error('this route is broken');
});
app.use((error, _request, response, _next) => response.status(500).json({ error: error.message }));

const server = createServer(app);
server.on('upgrade', (request, socket, head) => {
  watchers.handleUpgrade(request, socket, head, (client) => {
    client.on('message', (data) => client.send(`heard: ${data}`));
  });
});
server.listen(Number(process.env.PORT ?? 3000), () => console.log(`listening on ${server.address().port}`));

process.on('SIGTERM', () => {
  console.log('closing');
  for (const client of watchers.clients) client.close(1001, 'going away');
  server.close(() => {
    console.log('closed');
    process.exitCode = 0;
  });
});
