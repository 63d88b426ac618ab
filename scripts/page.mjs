/**
 * `npm run page:figures`: size, layout shift, contrast and pauses of the live page, and what ten open pages cost a node; exit code 1 where a
 * bound is not kept. `npm run page:pictures`: docs/pictures/live-*.png. Both start three nodes and traffic, and need a Chromium on PATH
 * (or QUOTAMESH_BROWSER).
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { ensureBuilt, root } from './freshness.mjs';

const NODES = ['a', 'b', 'c'];
const FIRST_PORT = 27_070;
const VIEWS = ['#/', '#/group/orders/publish', '#/node', '#/why/orders/publish'];
const BOUNDS = { bytes: 200_000, layoutShift: 0.001, contrast: 4.5, longestTaskMs: 50, cpuPercent: 2 };

ensureBuilt();
const folder = mkdtempSync(join(tmpdir(), 'quotamesh-page-'));
const children = [];

async function startCluster() {
  const many = Array.from(
    { length: 200 },
    (_, at) => `  tenant-${at}: { quota: { publish: { messagesPerSecond: 50 } } }\n`,
  );
  writeFileSync(
    join(folder, 'node.yaml'),
    `cluster: shop\ntopic: { kind: embedded, path: ${join(folder, 'topic')} }\n${GROUPS}${many.join('')}`,
  );
  const urls = NODES.map((node, at) => {
    const port = FIRST_PORT + at;
    const command = [join(root, 'dist/bin/quotamesh.js'), 'run', '--config', join(folder, 'node.yaml')];
    children.push(
      spawn(process.execPath, [...command, '--node', node, '--http', `127.0.0.1:${port}`], { stdio: 'ignore' }),
    );
    return `http://127.0.0.1:${port}`;
  });
  for (const url of urls) while (!(await isReady(url))) await sleep(200);
  const load = setInterval(() => void ask(urls), 100);
  load.unref();
  await sleep(20_000);
  return urls;
}

const GROUPS = `groups:
  orders: { quota: { publish: { messagesPerSecond: 1000 } } }
  payments: { quota: { publish: { messagesPerSecond: 400 }, dispatch: { messagesPerSecond: 200 } } }
  uploads: { quota: { publish: { bytesPerSecond: 20MiB } } }
  search: { quota: { publish: { messagesPerSecond: 300 } }, strategy: steal-halfway }
`;

const isReady = (url) =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** What the three nodes are asked for, per second: orders more than there is, and it moves. */
async function ask(urls) {
  const second = performance.now() / 1000;
  const wave = (mean, part, period) => Math.round((mean * (1 + part * Math.sin(second / period))) / 10);
  const wanted = {
    orders: [wave(900, 0.4, 9), wave(350, 0, 1), wave(150, 0.5, 5)],
    payments: [wave(60, 0, 1), wave(120, 0.2, 4), wave(90, 0, 1)],
    search: [wave(30, 0, 1), wave(250, 0.5, 11), wave(60, 0, 1)],
  };
  await Promise.allSettled(
    urls.map((url, at) => {
      const requests = Object.entries(wanted).map(([group, messages]) => ({
        group,
        messages: messages[at],
        bytes: 100,
      }));
      requests.push({ group: 'uploads', messages: 1, bytes: wave([9e6, 14e6, 2e6][at], 0.2, 13) });
      requests.push({ group: 'payments', direction: 'dispatch', messages: wave(70, 0.3, 7), bytes: 100 });
      const headers = { 'content-type': 'application/json' };
      return fetch(`${url}/v1/acquire/bulk`, { method: 'POST', headers, body: JSON.stringify({ requests }) });
    }),
  );
}

async function measure(browser, [url]) {
  const html = await fetch(url, { headers: { accept: 'text/html' } }).then((response) => response.text());
  const figures = { bytes: Buffer.byteLength(html), layoutShift: 0, contrast: 21, longestTaskMs: 0 };
  for (const colorScheme of ['light', 'dark']) {
    for (const view of VIEWS) {
      const found = await lookAt(browser, `${url}/${view}`, colorScheme);
      figures.layoutShift = Math.max(figures.layoutShift, found.layoutShift);
      figures.contrast = Math.min(figures.contrast, found.contrast);
      figures.longestTaskMs = Math.max(figures.longestTaskMs, found.longestTaskMs);
      for (const text of found.faint) process.stdout.write(`faint in ${colorScheme} ${view}: ${text}\n`);
    }
  }
  figures.cpuPercent = await costOfPages(browser, url);
  let isKept = true;
  for (const [name, bound] of Object.entries(BOUNDS)) {
    const figure = figures[name];
    const keeps = name === 'contrast' ? figure >= bound : figure <= bound;
    isKept &&= keeps;
    process.stdout.write(
      `${name.padEnd(14)} ${String(Number(figure.toPrecision(4))).padStart(9)}  ${name === 'contrast' ? 'at least' : 'at most '} ${bound}  ${keeps ? 'kept' : 'NOT KEPT'}\n`,
    );
  }
  if (!isKept) process.exitCode = 1;
}

/** Shifts and tasks are counted from the first paint on; of tasks those while the page only follows the stream. */
async function lookAt(browser, address, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme });
  await page.addInitScript(`window.found = { layoutShift: 0, longestTaskMs: 0, isQuiet: false };
    const observe = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take))
      .observe({ type, buffered: true });
    observe('layout-shift', (one) => { if (!one.hadRecentInput) found.layoutShift += one.value; });
    observe('longtask', ({ duration }) => {
      if (found.isQuiet) found.longestTaskMs = Math.max(found.longestTaskMs, duration);
    });`);
  await page.goto(address);
  await page.waitForSelector('#link[data-state=open]');
  await sleep(3000);
  await page.evaluate('found.isQuiet = true');
  await sleep(5000);
  const found = await page.evaluate('found');
  const contrasts = await page.evaluate(CONTRASTS);
  await page.close();
  const faint = contrasts
    .filter(({ ratio }) => ratio < BOUNDS.contrast)
    .map(({ ratio, text }) => `${ratio.toFixed(2)} ${text}`);
  return { ...found, contrast: Math.min(...contrasts.map(({ ratio }) => ratio)), faint };
}

/** CPU of a node with ten pages beside it without any, in per cent of a core. */
async function costOfPages(browser, url) {
  const [{ pid }] = children;
  const before = await cpuPercent(pid);
  const pages = await Promise.all(Array.from({ length: 10 }, () => browser.newPage()));
  for (const [at, page] of pages.entries()) await page.goto(`${url}/${VIEWS[at % VIEWS.length]}`);
  await sleep(2000);
  const during = await cpuPercent(pid);
  for (const page of pages) await page.close();
  return Math.max(0, during - before);
}

async function cpuPercent(pid) {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  const [from, began] = [ticks(), performance.now()];
  await sleep(20_000);
  // A tick is 10 ms on Linux.
  return (100 * (ticks() - from) * 10) / (performance.now() - began);
}

async function takePictures(browser, [url]) {
  const pictures = [
    ['live-groups', '#/', 'light', 1280, 800],
    ['live-group', '#/group/orders/publish', 'dark', 1440, 1000],
    ['live-why', '#/why/orders/publish', 'light', 1280, 860],
    ['live-node', '#/node', 'light', 1280, 860],
    ['live-phone', '#/group/orders/publish', 'dark', 390, 844],
  ];
  for (const [name, view, colorScheme, width, height] of pictures) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    await page.goto(`${url}/${view}`);
    if (name === 'live-why') await page.fill('.why input[type=number]', '500');
    await sleep(4000);
    if (name === 'live-why') await page.click('text=Explain');
    if (name === 'live-group') await page.locator('.change input').first().fill('600');
    if (name === 'live-node') {
      children[2].kill('SIGKILL');
      await sleep(9000);
    }
    await sleep(1500);
    await page.screenshot({ path: join(root, 'docs/pictures', `${name}.png`) });
    process.stdout.write(`docs/pictures/${name}.png\n`);
    await page.close();
  }
}

function findBrowser() {
  const named = process.env.QUOTAMESH_BROWSER;
  if (named) return named;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
  const paths = (process.env.PATH ?? '').split(delimiter).flatMap((path) => names.map((name) => join(path, name)));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error('there is no Chromium on PATH; QUOTAMESH_BROWSER may name one');
  return found;
}

/** The contrast of every text that is seen with what lies behind it, as WCAG 2 computes it. */
const CONTRASTS = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const over = (layers) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const layer of layers) { canvas.fillStyle = layer; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgrounds = (element) => {
    const layers = [];
    for (let at = element; at !== null; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
    return layers;
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()).join(' ').trim();
    if (text === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.matches('script, style, option, :disabled, .waiting *, .skip, .out')) continue;
    const layers = ['white', ...backgrounds(element)];
    const lights = [light(over(layers)), light(over([...layers, getComputedStyle(element).color]))];
    found.push({ ratio: (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05), text: text.slice(0, 60) });
  }
  return found;
})()`;

try {
  const cluster = await startCluster();
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] });
  try {
    if (process.argv[2] === 'pictures') await takePictures(browser, cluster);
    else await measure(browser, cluster);
  } finally {
    await browser.close();
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
