// The reasons why tests of E2B's clients fail. A reason is found by the file or the name of the
// test, or by the message of its failure. The first match decides.

/** The reasons, with what they concern. */
export const REASONS = [
  { reason: 'needs the program git', file: /\/git\/|test_git/ },
  {
    reason: 'needs a public host name of the server, with TLS',
    file: /host\.test|test_host/,
    message: /ENOTFOUND|fetch failed|Name or service|resolve|connect/i,
  },
  { reason: 'needs the program curl and the internet', file: /network\.test|test_network|internetAccess|internet_access/ },
  { reason: 'needs R or Java', name: /(?:\b|_)(r|java)(?:\b|_)/i, file: /kernels|languages/ },
  { reason: 'needs R or Java', file: /env_vars\/(test_)?(r|java)\./ },
  { reason: 'needs R or Java', name: /cwd[ _](r|java)\b/ },
  { reason: 'needs systemd', file: /systemd/ },
  {
    reason: 'needs a public host name of the server',
    name: /http.server|wakes (paused sandbox )?on http|wakes_on_http/,
  },
  { reason: 'needs numpy, pandas, matplotlib or Pillow', file: /(?:^|\/)(?:charts|images)\// },
  {
    reason: 'needs numpy, pandas, matplotlib or Pillow',
    file: /\/(?:data|displayData)\.test|test_(?:async_)?(?:data|display_data)\./,
  },
  { reason: 'needs numpy, pandas, matplotlib or Pillow', name: /^(?:test_)?streaming[ _]result$/ },
  { reason: 'needs the extended attributes of Linux', name: /xattrs/ },
  { reason: 'this version does not recognize a closed connection of HTTP/1.1', file: /killed_during_run/ },
  { reason: 'needs the port of the interpreter', message: /port is not open|49999/ },
];

const LONGEST = 160;

/** The reason of a failure whose message has no text. */
const NO_TEXT = 'failed without a message';

/** Returns the reason of a failure: a known reason, or the first line of the message. */
export function reasonOf({ file, name, message }) {
  const matches = (own) =>
    (own.file === undefined || own.file.test(file)) &&
    (own.name === undefined || own.name.test(name)) &&
    (own.message === undefined || own.message.test(message));
  return REASONS.find(matches)?.reason ?? firstLine(message);
}

function firstLine(message) {
  // Some messages begin with the place of the failure, which is a path of the machine.
  const line = message.split('\n').find((text) => text.trim() !== '' && !/^\s*at /.test(text)) ?? NO_TEXT;
  return line
    .replace(/(?:\/[^\s/:]+){2,}/g, (path) => path.slice(path.lastIndexOf('/') + 1))
    .replaceAll('|', '\\|')
    .replaceAll('`', "'")
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST);
}
