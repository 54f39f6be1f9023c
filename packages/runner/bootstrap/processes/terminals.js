// The kernel's calls for terminals. An end of a terminal is also a socket for reading, writing and
// waiting. Next: ../internal-bindings/tty_wrap.js, the terminals of Node's library.
'use strict';

const { NUMBERS: FILES } = require('../fs/calls.js');
const { terminals: NUMBERS } = require('../generated/system-calls.js');
const { TTY_KIND } = require('../net/calls.js');

const { sys } = native;

const EINTR = -4;
const ATTRIBUTE_BYTES = 36;
const SIZE_BYTES = 8;
const CHARACTERS_AT = 17;
const LINE_AT = 16;

// Flags of Linux's `struct termios`, for `makeRaw`.
const INPUT_FLAGS = 0o2 | 0o20 | 0o40 | 0o100 | 0o200 | 0o400 | 0o2000;
const ONLCR = 0o4;
const LOCAL_FLAGS = 0o1 | 0o2 | 0o10 | 0o100000;
const CHARACTER_SIZE = 0o60;
const EIGHT_BITS = 0o60;
const TIME = 5;
const LEAST = 6;

/** When `setAttributes` takes effect. */
const WHEN = { now: 0, drain: 1, flush: 2 };

const isTerminal = (fd) => sys(FILES.kind, fd) === TTY_KIND;

// Makes a terminal. Returns the descriptor of the master, or a negative errno.
const open = (rows, columns) => sys(NUMBERS.open, rows, columns);

// Returns the attributes, or a negative errno.
function getAttributes(fd) {
  const bytes = new Uint8Array(ATTRIBUTE_BYTES);
  const status = sys(NUMBERS.getAttributes, fd, bytes);
  if (status < 0) return status;
  const view = new DataView(bytes.buffer);
  const [iflag, oflag, cflag, lflag] = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
  return { iflag, oflag, cflag, lflag, line: bytes[LINE_AT], cc: bytes.slice(CHARACTERS_AT) };
}

// Sets attributes in the form of `getAttributes`. Returns 0 or a negative errno: -EINTR if a signal
// has stopped this background process meanwhile.
function setAttributes(fd, { iflag, oflag, cflag, lflag, line, cc }, when = WHEN.now) {
  const bytes = new Uint8Array(ATTRIBUTE_BYTES);
  const view = new DataView(bytes.buffer);
  [iflag, oflag, cflag, lflag].forEach((flags, index) => {
    view.setUint32(4 * index, flags, true);
  });
  bytes[LINE_AT] = line;
  bytes.set(cc, CHARACTERS_AT);
  return sys(NUMBERS.setAttributes, fd, when, bytes);
}

// Returns the attributes of libuv's UV_TTY_MODE_RAW. Output is still processed: a line feed also
// returns the cursor.
function makeRaw(attributes) {
  const cc = Uint8Array.from(attributes.cc);
  cc[TIME] = 0;
  cc[LEAST] = 1;
  return {
    ...attributes,
    iflag: attributes.iflag & ~INPUT_FLAGS,
    oflag: attributes.oflag | ONLCR,
    cflag: (attributes.cflag & ~CHARACTER_SIZE) | EIGHT_BITS,
    lflag: attributes.lflag & ~LOCAL_FLAGS,
    cc,
  };
}

// The attributes of each terminal before its raw mode, by descriptor.
const before = new Map();

// Turns raw mode on or off, as libuv's uv_tty_set_mode. Returns 0 or a negative errno.
function setRawMode(fd, isRaw) {
  const present = getAttributes(fd);
  if (typeof present === 'number') return present;
  const saved = before.get(fd);
  if (!isRaw && saved === undefined) return 0;
  const wanted = isRaw ? makeRaw(saved ?? present) : saved;
  // A signal may stop this background process. The call is repeated after the process has
  // continued.
  let status = EINTR;
  while (status === EINTR) status = setAttributes(fd, wanted);
  if (status < 0) return status;
  if (!isRaw) before.delete(fd);
  else if (saved === undefined) before.set(fd, present);
  return 0;
}

// Turns raw mode off at the end of the process, as libuv's uv_tty_reset_mode.
function resetModes() {
  for (const [fd, attributes] of before) setAttributes(fd, attributes);
  before.clear();
}

// Returns [columns, rows], or a negative errno.
function getSize(fd) {
  const bytes = new Uint8Array(SIZE_BYTES);
  const status = sys(NUMBERS.getSize, fd, bytes);
  if (status < 0) return status;
  return [bytes[2] | (bytes[3] << 8), bytes[0] | (bytes[1] << 8)];
}

const setSize = (fd, columns, rows) => sys(NUMBERS.setSize, fd, rows, columns);
const getForeground = (fd) => sys(NUMBERS.getForeground, fd);
const setForeground = (fd, group) => sys(NUMBERS.setForeground, fd, group);
const getSession = (fd) => sys(NUMBERS.getSession, fd);
const setControlling = (fd) => sys(NUMBERS.setControlling, fd);
// Returns the number of the terminal in /dev/pts, or a negative errno.
const numberOf = (fd) => sys(NUMBERS.number, fd);
const flush = (fd, queue) => sys(NUMBERS.flush, fd, queue);

module.exports = {
  WHEN,
  flush,
  getAttributes,
  getForeground,
  getSession,
  getSize,
  isTerminal,
  makeRaw,
  numberOf,
  open,
  resetModes,
  setAttributes,
  setControlling,
  setForeground,
  setRawMode,
  setSize,
};
