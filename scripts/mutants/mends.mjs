/**
 * Takes the mends of mends.json out of the source, one at a time, and plays the stories of accounts of the swarm's seeds from 1 on until
 * one breaks a promise: as many seeds does the swarm need to find the fault.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../freshness.mjs';
import { Tree } from './tree.mjs';

const MENDS = JSON.parse(readFileSync(new URL('./mends.json', import.meta.url), 'utf8'));

/** @param asked paths of modules or folders; none = all mends */
export async function playMends(asked, { seeds, workers }) {
  const isAsked = ({ module }) => asked.length === 0 || asked.some((path) => module.startsWith(path));
  const queue = MENDS.filter(isAsked).map((mend) => ({ ...mend, source: sourceWithout(mend) }));
  const trees = Array.from({ length: Math.min(workers, queue.length) }, () => new Tree());
  process.stdout.write('| fault | mend in | seeds needed | promise |\n|---|---|---:|---|\n');
  try {
    await Promise.all(trees.map((tree) => work(tree, queue, seeds)));
  } finally {
    for (const tree of trees) tree.remove();
  }
}

async function work(tree, queue, seeds) {
  for (let mend = queue.shift(); mend !== undefined; mend = queue.shift()) {
    const { fault, module } = mend;
    const found = await firstFound(tree, mend, seeds);
    process.stdout.write(
      `| ${fault} | \`${module}\` | ${found?.seed ?? `not within ${seeds}`} | ${found?.promise ?? ''} |\n`,
    );
  }
}

/** A seed that breaks a promise with every mend, too, finds nothing. */
async function firstFound(tree, { module, source }, seeds) {
  for (let first = 1; first <= seeds; ) {
    tree.put(module, source);
    const found = await tree.play(first, seeds);
    tree.restore(module);
    if (found === null || (await tree.play(found.seed, found.seed)) === null) return found;
    first = found.seed + 1;
  }
  return null;
}

export function sourceWithout({ module, find, replace }) {
  const parts = readFileSync(join(root, module), 'utf8').split(find);
  if (parts.length !== 2) throw new Error(`${module} has ${parts.length - 1} times, and not once: ${find.trim()}`);
  return parts.join(replace);
}
