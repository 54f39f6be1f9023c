// The SDK reads and writes the golden frames byte for byte, as the sidecar does.

import { expect, test } from 'vitest';
import * as checks from '../../src/channel/checks.js';
import { type Frame, FrameReader, FrameWriter } from '../../src/channel/frames.js';
import { Kind } from '../../src/channel/messages.js';
import { changeList, fileHandle, linkTarget } from '../../src/channel/opened.js';
import { permissionsEvents } from '../../src/channel/permission-messages.js';
import * as snapshots from '../../src/channel/snapshots.js';
import { golden } from './golden.js';

function decodeAll(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  new FrameReader((frame) => frames.push(frame)).push(bytes);
  return frames;
}

test.each(golden)('decodes $file', ({ kind, id, body, bytes }) => {
  expect(decodeAll(bytes)).toEqual([{ kind, id, body }]);
});

test.each(golden)('encodes $file to the same bytes', ({ bytes }) => {
  const [frame] = decodeAll(bytes);
  const writer = new FrameWriter();
  writer.add(frame?.kind ?? 0, frame?.id ?? 0, frame?.body as object);
  expect(writer.take().equals(bytes)).toBe(true);
});

test('every kind of message has a golden frame', () => {
  const kinds = new Set(golden.map(({ kind }) => kind));
  expect([...kinds].sort((a, b) => a - b)).toEqual(Object.values(Kind).sort((a, b) => a - b));
});

const replies: Record<string, (body: unknown) => unknown> = {
  'reply-ping': checks.done,
  'reply-runtime-create': checks.runtimeCreated,
  'reply-process-start': checks.outcome,
  'reply-runner-create': checks.runnerCreated,
  'reply-resources': checks.resources,
  'reply-runtime-resources': checks.runtimeUsage,
  'reply-file-read': checks.fileData,
  'reply-file-open': fileHandle,
  'reply-file-watch': fileHandle,
  'reply-file-pull': checks.fileData,
  'reply-file-changes': changeList,
  'reply-file-readlink': (body) => ({ target: linkTarget(body) }),
  'reply-file-list': checks.fileNames,
  'reply-file-stat': checks.fileStatus,
  'reply-process-list': checks.processTable,
  'sidecar-hello': checks.hello,
  error: checks.wireError,
  output: checks.output,
  started: checks.started,
  'stream-data': checks.streamData,
  'stream-credit': checks.streamBytes,
  'stream-ended': checks.done,
  'stream-closed': checks.streamClosed,
  'reply-listener-list': (body) => ({ listeners: checks.listeners(body) }),
  'reply-listener-wait': checks.listener,
  'host-call': checks.hostCall,
  'host-cancel': checks.hostCancel,
  'permissions-events': permissionsEvents,
  'limit-warning': checks.warning,
  'reply-snapshot-take': snapshots.snapshot,
  'reply-snapshot-get': snapshots.snapshot,
  'reply-snapshot-import': snapshots.snapshot,
  'reply-runtime-pause': snapshots.snapshot,
  'reply-snapshot-list': snapshots.snapshotEntries,
  'reply-snapshot-digest': (body) => ({ digest: snapshots.snapshotDigest(body) }),
  'reply-runtime-rollback': (body) => ({ programs: snapshots.restoredPrograms(body) }),
  'reply-runtime-resume': (body) => ({ programs: snapshots.restoredPrograms(body) }),
  'reply-runtime-clone': (body) => ({ copies: snapshots.runtimeCopies(body) }),
};

test.each(golden.filter(({ from }) => from === 'sidecar'))('$file passes the check of its message', ({ file, body }) => {
  const name = Object.keys(replies)
    .filter((prefix) => file.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0];
  const check = replies[name ?? ''];
  expect(check, `a check for ${file}`).toBeDefined();
  if (check !== checks.done) expect(check?.(body)).toEqual(body);
});
