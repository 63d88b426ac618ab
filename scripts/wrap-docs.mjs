/**
 * `node scripts/wrap-docs.mjs [--check] [files]`: breaks the long lines of markdown at 120 columns, where text can be
 * broken. Tables, code, headings, HTML and generated pages stay as they are; a line that is short enough is not touched,
 * so that a change of one sentence is a change of its paragraph only.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WIDTH_MAX = 120;
const FOLDERS = ['docs', 'src', 'sim', 'test', 'examples', 'deploy'];

/** The text with its long lines broken. */
export function wrapped(text) {
  if (text.startsWith('<!-- Generated')) return text;
  let isCode = false;
  return text
    .split('\n')
    .flatMap((line) => {
      if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
      const isFixed = isCode || /^(\s*\||#|<|!\[|\s*\[[^\]]+\]:| {4}\S)/.test(line) || [...line].length <= WIDTH_MAX;
      return isFixed ? [line] : brokenLine(line);
    })
    .join('\n');
}

/** Every markdown file that people write, from `root`. */
export function pagesOf(root) {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`),
  );
  return [...readdirSync(root), ...below].filter((name) => name.endsWith('.md') && !name.includes('node_modules'));
}

/** Later lines begin below the text of a list's item. */
function brokenLine(line) {
  const [, indent, mark] = /^(\s*)((?:[-*] |\d+\. |> )?)/.exec(line);
  const under = mark === '> ' ? `${indent}> ` : indent + ' '.repeat(mark.length);
  const lines = [];
  let now = indent + mark;
  let isEmpty = true;
  for (const word of piecesOf(line.slice(now.length))) {
    if (!isEmpty && [...now].length + 1 + [...word].length > WIDTH_MAX && !opensBlock(word)) {
      lines.push(now);
      now = under + word;
    } else now = isEmpty ? now + word : `${now} ${word}`;
    isEmpty = false;
  }
  return [...lines, now];
}

/** Words; a code span or a link's text stays whole where it contains spaces. */
function piecesOf(text) {
  return text.trim().match(/(?:`+[^`]*`+|\[[^\]]*\]\([^)]*\)|\S)+/g) ?? [];
}

/** What would be a list, a heading or a quote at the start of a line. */
function opensBlock(word) {
  return /^([-+*>]|#+|\d+[.)])$/.test(word);
}

function main(args) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const named = args.filter((argument) => !argument.startsWith('--'));
  const changed = (named.length > 0 ? named : pagesOf(root)).filter((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const now = wrapped(text);
    if (now !== text && !args.includes('--check')) writeFileSync(join(root, page), now);
    return now !== text;
  });
  process.stdout.write(`${changed.map((page) => `${page}\n`).join('')}${changed.length} pages with long lines\n`);
  if (args.includes('--check') && changed.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
