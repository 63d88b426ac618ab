import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTRASTS } from './contrasts.mjs';
import { GROUPS, NODES, startLargeCluster } from './large-cluster.mjs';
import { Processes } from './processes.mjs';
import { startShop } from './shop.mjs';

const VIEWS = ['#/', '#/group/orders/publish', '#/node', '#/why/orders/publish'];
const LARGE_VIEWS = ['#/', '#/group/group-7/publish', '#/node', '#/why/group-7/publish', '#/group/group-4711/publish'];
const BYTES_MAX = 200_000;
const CONTRAST_MIN = 4.5;
const PAUSE_MS_MAX = 50;
const CPU_PERCENT_MAX = 2;
const PAGES = 10;
/** By then the node of the large cluster has caught up, and its CPU is that of every day. */
const LARGE_RUN_UP_MS = 30_000;
const CPU_WINDOW_MS = 20_000;
/** A node on a busy machine may be degraded: its page says so, and its figures are taken all the same. */
const CONNECTED = '#link[data-state=open], #link[data-state=degraded]';

/** Prints each figure when it is there; returns whether all bounds are kept. @param part shop or large; absent = both */
export async function printFigures(browser, part) {
  const isKept = [
    ...(part === 'large' ? [] : await figuresOfShop(browser)),
    ...(part === 'shop' ? [] : await figuresOfLargeCluster(browser)),
  ];
  return isKept.every(Boolean);
}

async function figuresOfShop(browser) {
  say('three nodes, 207 groups, clients that ask for one message at a time');
  return await withProcesses(async (processes) => {
    const [{ url }] = await startShop(processes);
    const html = await fetch(url, { headers: { accept: 'text/html' } }).then((response) => response.text());
    const isSmall = atMost('size of the page, bytes', Buffer.byteLength(html), BYTES_MAX);
    const looks = [];
    for (const colorScheme of ['light', 'dark']) {
      for (const view of VIEWS) looks.push(await lookAt(browser, `${url}/${view}`, colorScheme));
    }
    const most = (name) => Math.max(...looks.map((look) => look[name]));
    return [
      isSmall,
      atMost('layout shift', most('layoutShift'), 0.001),
      atLeast('contrast of a text, least', Math.min(...looks.map(({ contrast }) => contrast)), CONTRAST_MIN),
      atMost('task while the page follows, ms', most('longestTaskMs'), PAUSE_MS_MAX),
    ];
  });
}

async function figuresOfLargeCluster(browser) {
  say(`${NODES} nodes that all use each of ${GROUPS} groups`);
  return await withProcesses(async (processes) => {
    const { url, pid } = await startLargeCluster(processes);
    await sleep(LARGE_RUN_UP_MS);
    const cpuPercent = await costOfPages(browser, url, pid);
    const scrolled = await scroll(browser, url);
    return [
      atMost(`CPU for ${PAGES} pages, % of a core`, cpuPercent, CPU_PERCENT_MAX),
      atMost('frame while the list scrolls, ms', scrolled.longestFrameMs, PAUSE_MS_MAX),
      atMost('until lines are there at rest, ms', scrolled.linesMs, 1000),
    ];
  });
}

async function withProcesses(use) {
  const processes = new Processes();
  try {
    return await use(processes);
  } finally {
    processes.end();
  }
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
  await page.waitForSelector(CONNECTED);
  await sleep(2000);
  await page.evaluate('found.isQuiet = true');
  await sleep(4000);
  const found = await page.evaluate('found');
  const contrasts = await page.evaluate(CONTRASTS);
  await page.close();
  for (const { ratio, text } of contrasts) {
    if (ratio < CONTRAST_MIN) say(`  ${ratio.toFixed(2)} in ${colorScheme} ${address}: ${text}`);
  }
  return { ...found, contrast: Math.min(...contrasts.map(({ ratio }) => ratio)) };
}

/**
 * Turns the wheel through the list, a quarter of a screen per frame and then in jumps of hundreds of lines. A frame is as
 * long as the screen stands still, whoever is the cause: the page, the browser, or the machine.
 */
async function scroll(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url);
  await page.waitForSelector('.lines .line:not(.waiting)');
  await sleep(2000);
  await page.mouse.move(600, 600);
  await page.evaluate(`window.frames_ = [];
    let last = performance.now();
    const next = (now) => { frames_.push(now - last); last = now; requestAnimationFrame(next); };
    requestAnimationFrame(next);`);
  for (let turn = 0; turn < 120; turn++) {
    await page.mouse.wheel(0, turn % 10 === 9 ? 30_000 : 150);
    await sleep(16);
  }
  const restedMs = performance.now();
  await page.waitForSelector('.line.waiting:not([hidden])', { state: 'detached' });
  const linesMs = performance.now() - restedMs;
  const frames = await page.evaluate('frames_.slice(1)');
  await page.close();
  frames.sort((one, other) => one - other);
  say(`  ${frames.length} frames, median ${frames[frames.length >> 1].toFixed(1)} ms`);
  return { longestFrameMs: frames.at(-1), linesMs };
}

/**
 * What ten pages cost a node, in per cent of a core: its CPU with them, less its CPU without any. Half of the pages show
 * the list, each at other lines.
 */
async function costOfPages(browser, url, pid) {
  const before = await cpuPercent(pid);
  const pages = [];
  for (let at = 0; at < PAGES; at++) {
    const page = await browser.newPage();
    pages.push(page);
    await page.goto(`${url}/${at < PAGES / 2 ? '#/' : LARGE_VIEWS[at - PAGES / 2]}`);
    await page.waitForSelector(CONNECTED);
    if (at < PAGES / 2) await page.evaluate(`document.querySelector('.list').scrollTop = ${at * 60_000}`);
  }
  await sleep(3000);
  const during = await cpuPercent(pid);
  for (const reason of await degradedBecause(url)) say(`  the node is degraded: ${reason}`);
  for (const page of pages) await page.close();
  say(`  the node takes ${before.toFixed(2)} % of a core by itself, ${during.toFixed(2)} % with ${PAGES} pages`);
  return Math.max(0, during - before);
}

async function degradedBecause(url) {
  const { node } = await fetch(`${url}/v1/live`).then((response) => response.json());
  return [...node.notReadyBecause, ...node.degraded];
}

async function cpuPercent(pid) {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  const [from, began] = [ticks(), performance.now()];
  await sleep(CPU_WINDOW_MS);
  // A tick is 10 ms on Linux.
  return (100 * (ticks() - from) * 10) / (performance.now() - began);
}

function atMost(name, figure, bound) {
  return tell(name, figure, `at most  ${bound}`, figure <= bound);
}

function atLeast(name, figure, bound) {
  return tell(name, figure, `at least ${bound}`, figure >= bound);
}

function tell(name, figure, bound, isKept) {
  const shown = figure >= 1000 ? figure.toFixed(0) : String(Number(figure.toPrecision(3)));
  say(`${name.padEnd(36)} ${shown.padStart(8)}  ${bound.padEnd(16)} ${isKept ? 'kept' : 'NOT KEPT'}`);
  return isKept;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
