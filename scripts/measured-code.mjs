/** The code that a figure of README measures, and whether it is still what was measured. No git is needed for that. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './freshness.mjs';

/** Command of README → its name for `npm run figures -- NAME`, what is run, and the code whose change may change the figure. */
export const FIGURES = {
  'npm run bench:limiter': {
    name: 'limiter',
    run: ['scripts/bench.mjs', 'limiter'],
    code: [
      'bench/limiter.ts',
      'bench/limiter',
      'src/node/admission',
      'src/core/base',
      'src/core/limiter',
      'src/core/account/keys',
    ],
  },
  'npm run bench:cluster -- kafka': {
    name: 'cluster',
    run: ['scripts/bench.mjs', 'cluster', 'kafka'],
    code: [
      'bench/cluster.ts',
      'bench/live',
      'src/core',
      'src/node/loop',
      'src/topic/codec',
      'src/topic/kafka',
      'src/topic/remote',
    ],
  },
  'npm run bench:scale': {
    name: 'scale',
    run: ['scripts/bench.mjs', 'scale', '--seconds', '12'],
    code: ['bench/scale.ts', 'bench/scale', 'src/core', 'src/topic/codec'],
  },
  'npm start -- --for 20s': {
    name: 'demonstration',
    run: ['scripts/start.mjs', '--for', '20s'],
    code: ['src/tools/demo', 'src/core', 'src/node/loop', 'src/topic/codec', 'src/topic/embedded'],
  },
};

/** Written by `npm run figures`: command → the commit at which it ran, and the code that it measured. */
export const TABLE = join('docs', 'reference', 'measured-code.json');

export function readTable() {
  return JSON.parse(readFileSync(join(root, TABLE), 'utf8'));
}

/** Says of these commands that they have been run at this commit, with the code as it is. */
export function recordMeasured(commands, commit) {
  const ran = commands.map((command) => [command, { commit, code: codeHash(FIGURES[command].code) }]);
  const table = { ...readTable(), ...Object.fromEntries(ran) };
  writeFileSync(join(root, TABLE), `${JSON.stringify(table, null, 2)}\n`);
}

/** Returns what is wrong with a command's figure, with the remedy; null = its code is as it was measured. */
export function staleness(command, table = readTable()) {
  const figure = FIGURES[command];
  if (figure === undefined)
    return `${command} has no row in scripts/measured-code.mjs: say there what code it measures`;
  const remedy = `run npm run figures -- ${figure.name}, and write what it prints into README.md and docs/reference/figures.md`;
  const measured = table[command];
  if (measured === undefined) return `${command} was never recorded: ${remedy}`;
  if (measured.code === codeHash(figure.code)) return null;
  return `${command} ran at ${measured.commit}, and ${figure.code.join(', ')} have changed since: ${remedy}`;
}

/** Code within those paths that none of the measured programs runs. */
const NOT_RUN = ['src/core/strict'];

/** A hash over names and texts of all sources below these paths, which comments and blank lines do not change. */
export function codeHash(paths, folder = root) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap((each) => sourcesBelow(folder, each))) {
    hash.update(`${path}\0${withoutComments(readFileSync(join(folder, path), 'utf8'))}\0`);
  }
  return hash.digest('hex').slice(0, 16);
}

function sourcesBelow(folder, path) {
  if (NOT_RUN.includes(path)) return [];
  if (statSync(join(folder, path)).isFile()) return [path];
  const names = readdirSync(join(folder, path)).sort();
  return names
    .map((name) => `${path}/${name}`)
    .flatMap((each) => {
      if (statSync(join(folder, each)).isDirectory())
        return each.endsWith('/generated') ? [] : sourcesBelow(folder, each);
      return /\.(ts|mjs|js)$/.test(each) ? [each] : [];
    });
}

/** Drops lines that are nothing but comment: comments stand on lines of their own here. */
export function withoutComments(text) {
  let isInside = false;
  const kept = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const begins = !isInside && trimmed.startsWith('/*');
    if (isInside || begins) isInside = !trimmed.includes('*/');
    else if (trimmed !== '' && !trimmed.startsWith('//')) kept.push(trimmed);
  }
  return kept.join('\n');
}
