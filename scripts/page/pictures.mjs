import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../freshness.mjs';
import { Processes } from './processes.mjs';
import { checkShown, startShop } from './shop.mjs';

const DESKTOP = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

/** What is done on a view before it is taken; the last one kills a node. */
const VIEWS = {
  groups: { hash: '#/' },
  group: { hash: '#/group/orders/publish', prepare: (page) => page.locator('.change input').first().fill('600') },
  why: {
    hash: '#/why/orders/publish',
    prepare: async (page) => {
      await page.fill('.why input[type=number]', '500');
      await page.click('text=Explain');
    },
  },
  node: { hash: '#/node' },
};

/** The pictures that documents show. */
const OF_DOCUMENTS = [
  ['groups', 'light', DESKTOP],
  ['group', 'dark', { width: 1440, height: 1000 }],
  ['why', 'light', DESKTOP],
  ['group', 'dark', PHONE, 'phone'],
  ['node', 'light', DESKTOP],
];

/** Takes the pictures of docs/pictures; with a folder all views, each light, dark, and on a phone, into that folder. */
export async function takePictures(browser, folder) {
  const processes = new Processes();
  try {
    const nodes = await startShop(processes);
    await checkShown(nodes[0]);
    const pictures = folder === undefined ? OF_DOCUMENTS : everyView();
    let isKilled = false;
    for (const [name, colorScheme, viewport, as = name] of pictures) {
      if (name === 'node' && !isKilled) {
        nodes.at(-1).kill();
        isKilled = true;
        await sleep(9000);
      }
      const path = join(folder === undefined ? join(root, 'docs/pictures') : resolve(folder), `live-${as}.png`);
      await take(browser, nodes[0].url, { ...VIEWS[name], colorScheme, viewport, path });
      process.stdout.write(`${path}\n`);
    }
  } finally {
    processes.end();
  }
}

function everyView() {
  return Object.keys(VIEWS).flatMap((name) => [
    [name, 'light', DESKTOP, `${name}-light`],
    [name, 'dark', DESKTOP, `${name}-dark`],
    [name, 'light', PHONE, `${name}-phone`],
  ]);
}

async function take(browser, url, { hash, prepare, colorScheme, viewport, path }) {
  const page = await browser.newPage({ viewport, colorScheme });
  await page.goto(`${url}/${hash}`);
  await page.waitForSelector('#link[data-state=open]');
  await sleep(2500);
  await prepare?.(page);
  await sleep(1500);
  await page.screenshot({ path });
  await page.close();
}
