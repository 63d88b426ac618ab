/** Source text as the rules about it read it: code without comments and strings, comments, and folded literals. */

/**
 * Spaces stand where comments, strings and regular expressions stood, so that every line and column stays where it is.
 * What a template evaluates is code and is kept.
 */
export function codeOf(text: string): string {
  return split(text).code;
}

export interface Comment {
  readonly line: number;
  /** Without its marks, on one line. Lines that follow each other with // are one comment. */
  readonly text: string;
}

export function commentsOf(text: string): Comment[] {
  const comments: Comment[] = [];
  let endsAt = -2;
  for (const { from, to } of split(text).comments) {
    const line = lineAt(text, from);
    const said = plain(text.slice(from, to));
    const last = comments.at(-1);
    const continues = text.startsWith('//', from) && line === endsAt + 1 && isAlone(text, from);
    if (continues && last !== undefined)
      comments[comments.length - 1] = { line: last.line, text: `${last.text} ${said}` };
    else comments.push({ line, text: said });
    endsAt = text.startsWith('//', from) ? line : -2;
  }
  return comments;
}

/** Lines where a literal is spread into another one, though its members could stand there themselves. */
export function foldedLiterals(text: string): number[] {
  const code = codeOf(text);
  return [...code.matchAll(/\.\.\.[{[]/g)].flatMap(({ index }) => {
    const rest = code.slice(closing(code, index + 3) + 1);
    return /^\s*[,\]})]/.test(rest) ? [lineAt(text, index)] : [];
  });
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function split(text: string): { readonly code: string; readonly comments: readonly Span[] } {
  const comments: Span[] = [];
  const hidden: Span[] = [];
  /** Braces that are open in each template whose expression is being read. */
  const templates: number[] = [];
  let at = 0;
  while (at < text.length) {
    const from = at;
    const char = text[at];
    if (text.startsWith('//', at) || text.startsWith('/*', at)) {
      const isLine = text[at + 1] === '/';
      const end = text.indexOf(isLine ? '\n' : '*/', at + 2);
      at = end === -1 ? text.length : end + (isLine ? 0 : 2);
      comments.push({ from, to: at });
      hidden.push({ from, to: at });
    } else if (char === "'" || char === '"' || (char === '/' && startsExpression(text, at))) {
      at = endOfLiteral(text, at, char);
      hidden.push({ from, to: at });
    } else if (char === '`' || (char === '}' && templates.at(-1) === 0)) {
      if (char === '}') templates.pop();
      at = endOfTemplatePart(text, at + 1);
      hidden.push({ from, to: at });
      if (text[at - 1] === '{') templates.push(0);
    } else {
      const open = templates.length - 1;
      if (open >= 0 && char === '{') templates[open] = templates[open] + 1;
      if (open >= 0 && char === '}') templates[open] = templates[open] - 1;
      at += 1;
    }
  }
  return { code: blanked(text, hidden), comments };
}

function blanked(text: string, hidden: readonly Span[]): string {
  let code = '';
  let kept = 0;
  for (const { from, to } of hidden) {
    code += text.slice(kept, from) + text.slice(from, to).replace(/[^\n]/g, ' ');
    kept = to;
  }
  return code + text.slice(kept);
}

/** A slash divides after a value, and begins a regular expression elsewhere. */
function startsExpression(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 20), at).trimEnd();
  return /(^|[(,=:[!&|?{};+<>~*%-]|\b(return|typeof|case|of|in))$/.test(before);
}

function endOfLiteral(text: string, from: number, quote: string): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (quote === '/' && char === '[') inClass = true;
    else if (quote === '/' && char === ']') inClass = false;
    else if (char === '\n' || (char === quote && !inClass)) return at + 1;
  }
  return text.length;
}

/** The end of a template, or of its text before an expression: behind the backtick or the opening brace. */
function endOfTemplatePart(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return at + 1;
    else if (text.startsWith('${', at)) return at + 2;
  }
  return text.length;
}

function closing(code: string, from: number): number {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    if ('{[('.includes(code[at])) depth += 1;
    if ('}])'.includes(code[at]) && --depth === 0) return at;
  }
  return code.length;
}

function plain(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$|^\/\//g, '')
    .replace(/\n\s*\*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function isAlone(text: string, index: number): boolean {
  return text.slice(text.lastIndexOf('\n', index) + 1, index).trim() === '';
}
