import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Links and mentions of documents, wherever they stand: a page that has moved must not be looked for where it was. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDERS = ['docs', 'src', 'sim', 'test', 'scripts', 'bench', 'deploy', 'examples', 'schema'];
const FILES = [
  ...readdirSync(ROOT).filter((name) => /\.(md|yml)$|^Dockerfile$/.test(name)),
  ...FOLDERS.flatMap((folder) => filesBelow(folder)),
];
/** Without blocks of code, where `](` is no link. */
const pages = FILES.filter((file) => file.endsWith('.md')).map((file) => ({
  file,
  text: textOf(file).replace(/^```[\s\S]*?^```/gm, ''),
}));

test('links between documents lead to a file, and to a heading of it', () => {
  const broken = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(([link, target = '', anchor]) => {
      if (/^[a-z]+:/.test(target)) return [];
      const path = target === '' ? file : posix.normalize(posix.join(dirname(file), target));
      if (!existsSync(join(ROOT, path))) return [`${file}: ${link}`];
      return anchor === undefined || !path.endsWith('.md') || anchorsOf(path).has(anchor) ? [] : [`${file}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('every document that a text or a comment names is there', () => {
  const named = FILES.flatMap((file) =>
    [...textOf(file).matchAll(/(?<![\w./-])docs\/[\w/-]+\.(?:md|svg|json)\b/g)].map(([path]) => ({ file, path })),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('every path that the maps and the ways to contribute name is there', () => {
  const maps = pages.filter(({ file }) => {
    return /^(ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/contribute\/|^(src|sim|test)\/.*README\.md$/.test(file);
  });
  const named = maps.flatMap(({ file }) => pathsIn(textOf(file)).map((path) => ({ file, path })));
  expect(named.length).toBeGreaterThan(300);
  expect(named.filter(({ file, path }) => !isThere(file, path))).toEqual([]);
});

test('every file that a comment of the code names is there', () => {
  const sources = FILES.filter((file) => /^(src|sim|test|scripts|bench)\/.*\.(ts|mjs)$/.test(file));
  const named = sources.flatMap((file) => commentedPathsIn(textOf(file)).map((path) => ({ file, path })));
  expect(named.length).toBeGreaterThan(50);
  const isKnown = (path: string) => FILES.some((known) => known === path || known.endsWith(`/${path}`));
  expect(named.filter(({ file, path }) => !isThere(file, path) && !isKnown(path))).toEqual([]);
});

test('paths are found in prose, in code and in blocks; patterns and what a run writes are none', () => {
  const text = 'Read src/a/b.ts, `c-d.ts` and `e/f.mjs`.\n```sh\nnpx vitest test/unit/g\n```\n`src/<name>.ts` `h.html`';
  expect(pathsIn(text)).toEqual(['src/a/b.ts', 'c-d.ts', 'e/f.mjs', 'test/unit/g']);
});

test('a decision that is named by its number is there', () => {
  const numbers = new Set(readdirSync(join(ROOT, 'docs/decisions')).map((name) => name.slice(0, 4)));
  const named = FILES.flatMap((file) =>
    [...textOf(file).matchAll(/docs\/decisions\/(\d{4})/g)].map(([, number = '']) => ({ file, number })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ number }) => !numbers.has(number))).toEqual([]);
});

/** Whole paths from the top, and files that are named in backticks by their last part or parts. */
function pathsIn(text: string): string[] {
  const named =
    /(?<![\w./-])((?:bench|deploy|docs|examples|proto|schema|scripts|sim|src|test)\/[\w./-]*\w)(?![\w<*{…])|`([\w./-]+\.(?:ts|mjs|yaml|proto))`/g;
  return [...text.matchAll(named)].map(([, whole, quoted]) => whole ?? quoted ?? '');
}

/** Sources that comments name with their folder; quoted text is none. */
function commentedPathsIn(text: string): string[] {
  const comments = text.match(/\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm) ?? [];
  return comments.flatMap((comment) => {
    return [...comment.matchAll(/(?<![\w./'-])([\w-]+(?:\/[\w-]+)*\.(?:ts|mjs))\b/g)].map(([, path = '']) => path);
  });
}

/** A README names files of its folder; a page of docs any file, by the end of its path. */
function isThere(file: string, path: string): boolean {
  if (existsSync(join(ROOT, path)) || existsSync(join(ROOT, dirname(file), path))) return true;
  return file.startsWith('docs/') && !path.includes('docs/') && FILES.some((known) => known.endsWith(`/${path}`));
}

/** Anchors as GitHub makes them: lower case, spaces to dashes, what is no word left out, repetitions numbered. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = textOf(page).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) => {
      const text = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .trim()
        .toLowerCase();
      const anchor = text.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
      const before = seen.get(anchor) ?? 0;
      seen.set(anchor, before + 1);
      return before === 0 ? anchor : `${anchor}-${before}`;
    }),
  );
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (statSync(join(ROOT, path)).isDirectory())
      return ['generated', 'node_modules'].includes(name) ? [] : filesBelow(path);
    return /\.(md|ts|mjs|ya?ml|json|svg)$/.test(name) ? [path] : [];
  });
}
