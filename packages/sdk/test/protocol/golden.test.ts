// Tests that the SDK reads and writes the golden frames byte for byte, as the sidecar does.

import { expect, test } from 'vitest';
import { type Frame, FrameReader, FrameWriter } from '../../src/protocol/frames.js';
import * as decoders from '../../src/protocol/generated/decoders.js';
import { EVENTS, NOTICES, REQUESTS } from '../../src/protocol/generated/tables.js';
import { type Golden, golden } from './golden.js';

function decodeAll(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  new FrameReader((frame) => frames.push(frame)).push(bytes);
  return frames;
}

test.each(golden)('decodes $file', ({ kind, id, body, bytes }) => {
  expect(decodeAll(bytes)).toEqual([{ kind, id, body }]);
});

test.each(golden)('encodes $file to equal bytes', ({ bytes }) => {
  const [frame] = decodeAll(bytes);
  const writer = new FrameWriter();
  writer.add(frame?.kind ?? 0, frame?.id ?? 0, frame?.body as object);
  expect(writer.take().equals(bytes)).toBe(true);
});

test('every kind of message has a golden frame', () => {
  const kinds = new Set(golden.map(({ kind }) => kind));
  const requests = Object.values(REQUESTS).map(({ kind }) => kind);
  const all = new Set([...requests, ...Object.values(NOTICES), ...Object.values(EVENTS)]);
  expect([...kinds].sort((a, b) => a - b)).toEqual([...all].sort((a, b) => a - b));
});

type Decoder = (body: unknown, at: string) => unknown;

const EVENT_DECODERS: Record<string, Decoder> = {
  hello: decoders.sidecarHello,
  error: decoders.failure,
  output: decoders.output,
  started: decoders.started,
  lost: decoders.lost,
  'stream.data': decoders.streamData,
  'stream.credit': decoders.credit,
  'stream.close': decoders.streamClosed,
  'host.call': decoders.hostCall,
  'host.cancel': decoders.hostCancel,
  'network.pending': decoders.inNetwork,
  'outside.pending': decoders.outsidePending,
  'secrets.wanted': decoders.inRuntime,
  'handler.wanted': decoders.handlerRequest,
  'permissions.pending': decoders.permissionsPending,
  'limit.warning': decoders.limitWarning,
};
// Frames of replies are named after their request: `reply-file-read.bin`.
const REPLY_DECODERS = Object.entries(REQUESTS)
  .map(([name, { reply }]) => [`reply-${name.replace('.', '-')}`, reply as Decoder] as const)
  .sort(([a], [b]) => b.length - a.length);

function decoderOf({ file, name }: Golden): Decoder | undefined {
  if (name !== 'reply') return EVENT_DECODERS[name];
  return REPLY_DECODERS.find(([prefix]) => file.startsWith(prefix))?.[1];
}

const withBody = golden.filter(
  ({ from, name, body }) => from === 'sidecar' && (name === 'reply' || Object.keys(body as object).length > 0),
);

test.each(withBody)('$file passes the check of its message', (frame) => {
  const decode = decoderOf(frame);
  expect(decode, `a decoder for ${frame.file}`).toBeDefined();
  const decoded = decode?.(frame.body, 'body');
  // The decoder of a reply without fields returns no value.
  if (Object.keys(frame.body as object).length > 0) expect(decoded).toEqual(frame.body);
});
