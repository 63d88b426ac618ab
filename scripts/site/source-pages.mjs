import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const PICTURE = /\.(svg|png)$/;
/** What the site has of files that are no pages, in lines; the rest of a longer file says how many there are. */
const LINES_MAX = 2000;
const LANGUAGES = { mjs: 'js', ts: 'ts', json: 'json', yaml: 'yaml', yml: 'yaml', py: 'python', proto: 'proto' };

/**
 * Every file that the site shows: the pages of docs/, and whatever they link to within the repository, however far
 * away. `pages`: path → text with links of the site; `pictures`: paths.
 */
export function collectPages(root, begin) {
  const [pages, pictures, open] = [new Map(), new Set(), [...begin]];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (pages.has(path)) continue;
    const { text, linked } = path.endsWith('.md') ? markdownPage(root, path) : sourcePage(root, path);
    pages.set(path, text);
    for (const target of linked) {
      if (PICTURE.test(target)) pictures.add(target);
      else open.push(target);
    }
  }
  return { pages, pictures };
}

export function pagesBelow(root, folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => posix.join(folder, name));
}

/** The address of a file's page within the site, with the ending .md, as VitePress wants links. */
export function addressOf(path) {
  if (PICTURE.test(path)) return `/${path.replace(/^docs\//, '')}`;
  if (path === 'docs/README.md') return '/contents.md';
  if (path.startsWith('docs/') && path.endsWith('.md')) {
    return `/${path.slice('docs/'.length).replace(/README\.md$/, 'index.md')}`;
  }
  if (!path.endsWith('.md')) return `/source/${path}.md`;
  return path.includes('/') ? `/source/${path}` : `/${path.toLowerCase()}`;
}

/** The first heading without its marks. */
export function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1].replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1');
}

function markdownPage(root, path) {
  const linked = [];
  const rewritten = outsideOfCode(readFileSync(join(root, path), 'utf8'), (text) => {
    return text
      .replaceAll('{{', '&#123;&#123;')
      .replaceAll(/\]\(([^)#\s]*)(#[^)\s]*)?\)/g, (link, target, anchor = '') => {
        if (target === '' || /^[a-z]+:/.test(target)) return link;
        const found = fileOf(root, posix.normalize(posix.join(dirname(path), target)));
        if (found === null) throw new Error(`${path}: ${link} leads nowhere`);
        linked.push(found);
        return `](${addressOf(found)}${anchor})`;
      });
  });
  return { text: path.startsWith('docs/') ? rewritten : `---\nsearch: false\n---\n${rewritten}`, linked };
}

/** A folder stands for its README. */
function fileOf(root, path) {
  const trimmed = path.replace(/\/$/, '');
  if (!existsSync(join(root, trimmed))) return null;
  if (!statSync(join(root, trimmed)).isDirectory()) return trimmed;
  return existsSync(join(root, trimmed, 'README.md')) ? `${trimmed}/README.md` : null;
}

function sourcePage(root, path) {
  const lines = readFileSync(join(root, path), 'utf8').trimEnd().split('\n');
  const fence = '`'.repeat(4);
  const more = lines.length > LINES_MAX ? `\n\nThe file has ${lines.length - LINES_MAX} lines more.` : '';
  const language = LANGUAGES[path.split('.').at(-1)] ?? 'text';
  const code = [`${fence}${language}`, ...lines.slice(0, LINES_MAX), fence].join('\n');
  return { text: `---\nsearch: false\n---\n# \`${path}\`\n\n${code}${more}\n`, linked: [] };
}

/** Applies `change` to what is neither a block of code nor a code span. */
function outsideOfCode(markdown, change) {
  const blocks = markdown.split(/^([ \t>]*(?:```|~~~)[\s\S]*?^[ \t>]*(?:```|~~~)[ \t]*$)/m);
  return blocks
    .map((block, at) => {
      if (at % 2 === 1) return block;
      const pieces = block.split(/(`+[^`]+`+)/);
      // A link may have a code span as its text, so the pieces around one are changed as they stand.
      return pieces.map((piece, part) => (part % 2 === 1 ? piece : change(piece))).join('');
    })
    .join('');
}
