// Decides whether the lines that a user typed are a complete shell command. The guest's shell
// cannot distinguish an incomplete command and a wrong command. A complete command goes to the
// shell, which reports the errors of its syntax.

const OPENING = new Set(['if', 'for', 'while', 'until', 'case', 'select', '{']);
const CLOSING = new Set(['fi', 'done', 'esac', '}']);
/** Words after which a word is again in the position of a command. */
const BEFORE_COMMAND = new Set(['then', 'do', 'else', 'elif', 'if', 'while', 'until', '!', '{', 'time']);
const OPERATOR = /[;&|\n()]/;

/** Returns whether `text` needs more lines. */
export function isIncomplete(text: string): boolean {
  let depth = 0;
  let word = '';
  let isCommand = true;
  let isQuoted = false;
  const hereDocuments: string[] = [];
  const endWord = (): void => {
    if (word === '') return;
    const isWord = isCommand && !isQuoted;
    if (isWord && OPENING.has(word)) depth++;
    if (isWord && CLOSING.has(word)) depth--;
    isCommand = isWord && BEFORE_COMMAND.has(word);
    [word, isQuoted] = ['', false];
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] as string;
    if (letter === '\\') {
      if (at + 1 >= text.length) return true;
      at++;
      word += text[at];
      isQuoted = true;
    } else if (letter === "'" || letter === '"' || letter === '`') {
      const end = closing(text, at);
      if (end === -1) return true;
      word += text.slice(at, end);
      [at, isQuoted] = [end, true];
    } else if (letter === '#' && word === '') {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end - 1;
    } else if (letter === '<' && /^<<-?[^<]/.test(text.slice(at, at + 4)) && text[at - 1] !== '<') {
      const [whole, delimiter = ''] = /^<<-?\s*['"\\]?([\w.-]+)['"]?/.exec(text.slice(at)) ?? ['<<'];
      if (delimiter !== '') hereDocuments.push(delimiter);
      at += whole.length - 1;
    } else if (OPERATOR.test(letter)) {
      endWord();
      if (letter === '(') depth++;
      // In `case`, a pattern ends with a parenthesis that no parenthesis opens.
      if (letter === ')' && depth > 0 && opens(text, at)) depth--;
      isCommand = true;
      if (letter !== '\n' || hereDocuments.length === 0) continue;
      const rest = text.slice(at + 1).split('\n');
      for (const delimiter of hereDocuments.splice(0)) {
        const line = rest.findIndex((one) => one.trim() === delimiter);
        if (line === -1) return true;
        at += rest.splice(0, line + 1).join('\n').length + 1;
      }
    } else if (/\s/.test(letter)) endWord();
    else word += letter;
  }
  endWord();
  return depth > 0 || hereDocuments.length > 0 || /(\|\||&&|\|)\s*$/.test(text);
}

// Returns whether an earlier parenthesis opens the parenthesis at `at`.
function opens(text: string, at: number): boolean {
  let open = 0;
  for (const letter of text.slice(0, at)) {
    if (letter === '(') open++;
    if (letter === ')') open--;
  }
  return open > 0;
}

function closing(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote !== "'") at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}
