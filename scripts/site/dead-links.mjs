import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * What a built site points to and does not have: pages, headings, pictures, scripts; and what it would load from
 * another host. One line each; addresses of other hosts that a reader clicks are his own business.
 */
export function deadLinks(folder, base = '/') {
  const files = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name));
  const pages = [...files].filter((name) => name.endsWith('.html'));
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]));
  const headings = new Map([...texts].map(([page, text]) => [page, idsOf(text)]));
  return [...texts].flatMap(([page, text]) => {
    const dead = new Set(targetsIn(text).filter((target) => isDead(target, page, { files, headings, base })));
    return [...dead].map(({ tag, url }) => `${page}: <${tag}> ${url}`);
  });
}

function targetsIn(html) {
  const found = [...html.matchAll(/<(a|img|link|script)\b[^>]*?\b(?:href|src)="([^"]*)"/g)];
  return found.map(([, tag, url]) => ({ tag, url: url.replaceAll('&amp;', '&') }));
}

function idsOf(html) {
  return new Set([...html.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id));
}

function isDead({ tag, url }, page, { files, headings, base }) {
  if (/^(data|mailto):/.test(url)) return false;
  if (/^([a-z]+:)?\/\//.test(url)) return tag !== 'a';
  const [path, anchor] = url.split('#').map(decodeURIComponent);
  const file = path === '' ? page : fileOf(path, page, base);
  if (!files.has(file)) return true;
  return anchor !== undefined && anchor !== '' && file.endsWith('.html') && !headings.get(file).has(anchor);
}

function fileOf(path, page, base) {
  const within = path.startsWith(base)
    ? path.slice(base.length)
    : posix.join(posix.dirname(page), path).replace(/^\.\//, '');
  return within === '' || within.endsWith('/') ? `${within}index.html` : within;
}
