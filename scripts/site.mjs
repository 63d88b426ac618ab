/**
 * `npm run site`: the documentation as a site, in site/dist. Pages come from docs/ and from whatever they link to, the
 * library's from its types, HTTP's from a node that runs. A dead link or heading ends it with exit code 1.
 * `-- --preview` shows what was built; `-- --base /path/` builds it for a folder of a server.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, root, run } from './freshness.mjs';
import { deadLinks } from './site/dead-links.mjs';
import { navigationOf } from './site/navigation.mjs';
import { openapiOfNode } from './site/openapi-of-node.mjs';
import { openapiPages } from './site/openapi-pages.mjs';
import { addressOf, collectPages, pagesBelow, titleOf } from './site/source-pages.mjs';

const FOLDER = join(root, 'site');
const STAGE = join(FOLDER, 'stage');
const BUILT = join(FOLDER, 'dist');
const ALSO = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const VERSION = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

const { values } = parseArgs({ options: { preview: { type: 'boolean' }, base: { type: 'string', default: '/' } } });
installPackages();
if (values.preview) {
  vitepress('preview', '--base', values.base);
} else {
  ensureBuilt();
  rmSync(STAGE, { recursive: true, force: true });
  await stage();
  vitepress('build', '--base', values.base, '--outDir', BUILT);
  judge();
}

/** The site's packages are its own: who only builds and tests quotamesh installs none of them. */
function installPackages() {
  const stamp = join(FOLDER, 'node_modules/.quotamesh-site');
  const wanted = readFileSync(join(FOLDER, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['ci', '--prefer-offline', '--ignore-scripts', ...quiet], { cwd: FOLDER });
  writeFileSync(stamp, wanted);
}

async function stage() {
  const { pages, pictures } = collectPages(root, [...pagesBelow(root, 'docs'), ...ALSO.filter(isThere)]);
  for (const [path, text] of pages) write(addressOf(path), text);
  for (const path of pictures) cpSync(join(root, path), join(STAGE, 'public', addressOf(path)), { recursive: true });
  const description = await openapiOfNode(join(root, 'dist/bin/quotamesh.js'));
  for (const [name, text] of openapiPages(description)) write(`http/${name}`, text);
  write('public/openapi.json', `${JSON.stringify(description, null, 2)}\n`);
  writeLibrary();
  const titles = new Map([...pages].map(([path, text]) => [path, titleOf(text) ?? path]));
  const navigation = navigationOf(new Map([...titles, ['http/index.md', 'HTTP'], ['library/index.md', 'Library']]));
  const sections = navigation.map(({ pages: listed, ...section }) => {
    return { ...section, pages: listed.map(([text, path]) => ({ text, link: linkOf(path) })) };
  });
  write('navigation.json', JSON.stringify({ version: VERSION, sections }));
  write('index.md', homePage(sections));
}

function isThere(path) {
  return existsSync(join(root, path));
}

function linkOf(path) {
  return /^(http|library)\//.test(path) ? `/${path}` : addressOf(path);
}

/** The library's types, as its users get them: from the declarations that are published. */
function writeLibrary() {
  const doors = readdirSync(join(root, 'dist/subpaths'), { recursive: true, encoding: 'utf8' });
  const entries = ['index.d.ts', ...doors.filter((name) => name.endsWith('.d.ts')).map((name) => `subpaths/${name}`)];
  const points = entries.flatMap((name) => ['--entryPoints', join(root, 'dist', name)]);
  run(process.execPath, [bin('typedoc'), ...points, '--options', join(FOLDER, 'typedoc.json')], { cwd: FOLDER });
}

function homePage(sections) {
  const features = sections
    .filter(({ says }) => says !== undefined)
    .map(({ text, says, pages }) => ({ title: text, details: says, link: pages[0].link.replace(/\.md$/, '') }));
  const hero = {
    name: 'quotamesh',
    text: 'Cluster-wide quotas with local decisions',
    tagline: 'Many nodes share one quota per group through a log, and each decides alone, in nanoseconds.',
    actions: [
      { theme: 'brand', text: 'Five minutes', link: '/guide/start' },
      { theme: 'alt', text: 'How it works', link: '/guide/how-it-works' },
    ],
  };
  return `---\n${JSON.stringify({ layout: 'home', hero, features })}\n---\n`;
}

/** VitePress finds dead pages by itself, but no dead headings, pictures or foreign hosts. */
function judge() {
  const dead = deadLinks(BUILT, values.base);
  const files = readdirSync(BUILT, { recursive: true, encoding: 'utf8' });
  const pages = files.filter((name) => name.endsWith('.html'));
  const bytes = files.reduce((sum, name) => sum + statSync(join(BUILT, name)).size, 0);
  process.stdout.write(`${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB in site/dist\n`);
  if (dead.length === 0) return;
  process.stderr.write(`${dead.join('\n')}\n${dead.length} dead links\n`);
  process.exitCode = 1;
}

function vitepress(...args) {
  const { status } = spawnSync(process.execPath, [bin('vitepress'), args[0], FOLDER, ...args.slice(1)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

function bin(name) {
  const folder = join(FOLDER, 'node_modules', name);
  const { bin: programs } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof programs === 'string' ? programs : programs[name]);
}

function write(path, text) {
  const file = join(STAGE, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
