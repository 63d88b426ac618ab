import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { deadLinks } from '../../../scripts/site/dead-links.mjs';
import { navigationOf } from '../../../scripts/site/navigation.mjs';
import { openapiPages } from '../../../scripts/site/openapi-pages.mjs';
import { addressOf, collectPages, pagesBelow, titleOf } from '../../../scripts/site/source-pages.mjs';

/** Pages of these tests lie below it and are not there, so their paths are put together. */
const DOCS = 'docs';
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('every page of docs/ stands in the navigation once, but for the list of all', () => {
  const pages = new Map(pagesBelow(ROOT, 'docs').map((path) => [path, path]));
  const listed = navigationOf(pages).flatMap((section) => section.pages.map(([, path]) => path));
  expect(listed.toSorted()).toEqual([...pages.keys()].filter((path) => path !== 'docs/README.md').toSorted());
});

test('a page that is not there is left out, and one that nobody has named is added with its title', () => {
  const pages = [
    ['docs/guide/keys.md', 'Keys'],
    [`${DOCS}/guide/new.md`, 'Something new'],
  ] as const;
  expect(navigationOf(new Map(pages)).map(({ text, pages: listed }) => [text, listed])).toEqual([
    ['For what you have', [['A quota per API key', 'docs/guide/keys.md']]],
    ['What a group can do', [['Something new', `${DOCS}/guide/new.md`]]],
  ]);
});

test('whatever a page links to comes along, under an address of the site; code stays as it is', () => {
  const folder = folderOf({
    [`${DOCS}/guide/a.md`]:
      '# `A` page\n\n[b](../../deploy/b.yml#x), ![c](../c.svg), [`d`](../../src)\n\n`](e.md)` {{\n',
    'deploy/b.yml': 'x: 1\n',
    [`${DOCS}/c.svg`]: '<svg/>',
    'src/README.md': '# d\n\n```md\n[e](e.md)\n```\n',
  });
  const { pages, pictures } = collectPages(folder, [`${DOCS}/guide/a.md`]);
  expect([...pages.keys()].toSorted()).toEqual(['deploy/b.yml', `${DOCS}/guide/a.md`, 'src/README.md']);
  expect([...pictures]).toEqual([`${DOCS}/c.svg`]);
  const [text = ''] = [pages.get(`${DOCS}/guide/a.md`)];
  expect(text).toContain('[b](/source/deploy/b.yml.md#x), ![c](/c.svg), [`d`](/source/src/README.md)');
  expect(text).toContain('`](e.md)` &#123;&#123;');
  expect(titleOf(text)).toBe('A page');
  expect(addressOf('docs/decisions/README.md')).toBe('/decisions/index.md');
});

test('a link that leads nowhere ends the collecting with its page', () => {
  const folder = folderOf({ [`${DOCS}/a.md`]: '[b](b.md)\n' });
  expect(() => collectPages(folder, [`${DOCS}/a.md`])).toThrow(`${DOCS}/a.md: ](b.md) leads nowhere`);
});

test('of a built site, dead pages, headings and pictures are found, and what comes from another host', () => {
  const folder = folderOf({
    'index.html':
      '<h1 id="top"></h1><a href="/on/guide/a.html#b">1</a><a href="#top">2</a><a href="https://x.org">3</a>',
    'guide/a.html': '<a href="../">4</a><a href="/on/guide/a.html#c">5</a><img src="b.svg"><script src="//y.org/z.js">',
  });
  expect(deadLinks(folder, '/on/')).toEqual([
    'index.html: <a> /on/guide/a.html#b',
    'guide/a.html: <a> /on/guide/a.html#c',
    'guide/a.html: <img> b.svg',
    'guide/a.html: <script> //y.org/z.js',
  ]);
});

test('an OpenAPI description becomes pages: routes, bodies with their fields, answers', () => {
  const body = { properties: { group: { type: 'string' }, keys: { items: { properties: { n: { type: 'null' } } } } } };
  const described = {
    info: { description: 'What it is.', version: '1.2.3' },
    paths: {
      '/v1/take/{*}': {
        post: {
          tags: ['batches'],
          summary: 'Takes a batch',
          security: [{ bearer: ['traffic'] }],
          requestBody: { content: { 'application/json': { schema: { ...body, required: ['group'] } } } },
          responses: { 200: { description: 'It is granted, see docs/guide/tokens.md.' } },
        },
      },
    },
  };
  const pages = openapiPages(described);
  expect([...pages.keys()]).toEqual(['index.md', 'batches.md']);
  expect(pages.get('index.md')).toContain('| [`POST /v1/take/{*}`](./batches.md#post-v1-take-any) | Takes a batch |');
  const page = pages.get('batches.md');
  expect(page).toContain('## `POST /v1/take/{*}` {#post-v1-take-any}\n\nTakes a batch. Role: `traffic`.');
  expect(page).toContain('| `group` | string, needed |  |');
  expect(page).toContain('| `keys[].n` | null |  |');
  expect(page).toContain('| `200` | It is granted, see [tokens](/guide/tokens.md). |');
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-site-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
