// The format of a patch file: a commit message, a line `---`, and a unified diff of the engine's
// sources. The message is the patch's header. Its subject is `name: imperative`; `Reason:`,
// `Changes:` and `Tests:` follow as sections. `git apply`, `patch` and editors read the diff, and
// `git format-patch` separates message and diff in this way too. Next: series.mjs, which reads and
// applies all patches.

const SEPARATOR = '\n---\n';
const SUBJECT = /^([a-z0-9]+(?:-[a-z0-9]+)*): \S/;

/** Splits the text of a patch file. `file` is the file's name, for errors. */
export function parsePatchFile(file, text) {
  const at = text.indexOf(SEPARATOR);
  if (at < 0) throw new Error(`patch ${file}: a line --- between header and diff is missing`);
  const message = text.slice(0, at + 1);
  const { name, subject } = parseMessage(file, message);
  return { file, name, subject, message, diff: text.slice(at + SEPARATOR.length) };
}

/**
 * Returns the name and the subject that a patch's message begins with. `place` is a file or a
 * commit, for errors.
 */
export function parseMessage(place, message) {
  const [subject] = message.split('\n', 1);
  const name = SUBJECT.exec(subject)?.[1];
  if (name === undefined) throw new Error(`patch ${place}: expected the subject 'name: imperative', found '${subject}'`);
  return { name, subject };
}

/**
 * Returns the paragraphs of a message's section, for example of `Tests`, as one text. Returns an
 * empty text if the section is missing.
 */
export function sectionOf(message, title) {
  const found = new RegExp(`^${title}:\\n?([\\s\\S]*?)(?=\\n\\n[A-Z][a-z]+:|(?![\\s\\S]))`, 'm').exec(message);
  return found?.[1].trim() ?? '';
}

/** Returns the text of a patch file. */
export const formatPatchFile = ({ message, diff }) => `${message.trimEnd()}${SEPARATOR}${diff}`;

/** Returns the name of a patch file: its place in the series, and the name in its subject. */
export const patchFileName = (index, name) => `${String(index + 1).padStart(4, '0')}-${name}.patch`;
