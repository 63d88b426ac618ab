import { fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { keysSection } from '../keys/keys-section.js';
import { builtInNames, loadBuiltIn } from '../scenario/load-scenario.js';
import { OWN_SYSTEMS, SYSTEMS, shortName } from '../systems.js';
import { targetSection } from '../target/target-section.js';
import { accuracyDocument, accuracyTable, withKeys } from './accuracy-document.js';
import type { AccuracyRow } from './accuracy-run.js';
import { liveSection } from './live-section.js';
import { pinnedAccuracy } from './pinned-accuracy.js';

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    pin: { type: 'boolean', default: false },
    'only-keys': { type: 'boolean', default: false },
    out: { type: 'string' },
    seeds: { type: 'string', default: '3' },
  },
});
const DOCUMENT = new URL('docs/reference/accuracy.md', PACKAGE_ROOT);
const TABLE = new URL('docs/reference/accuracy.csv', PACKAGE_ROOT);
const LIVE = new URL('docs/reference/accuracy-live.json', PACKAGE_ROOT);
/** Exists only in a checkout. */
const PINNED = new URL('test/simulation/pinned-accuracy.txt', PACKAGE_ROOT);
const WORKER = fileURLToPath(new URL('./accuracy-worker.js', import.meta.url));

if (values.pin) {
  writeFileSync(PINNED, pinnedAccuracy());
  process.exit(0);
}
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
if (values['only-keys']) {
  writeFileSync(DOCUMENT, withKeys(readFileSync(DOCUMENT, 'utf8'), keysSection(seeds)));
  process.exit(0);
}
const facts = {
  rows: await runAll(),
  seeds,
  scenarios: new Map(builtInNames().map((name) => [name, loadBuiltIn(name).says])),
  ownSystems: saysOf(true),
  baselines: saysOf(false),
  targets: targetSection(),
  keys: keysSection(seeds),
  live: existsSync(LIVE) ? liveSection(JSON.parse(readFileSync(LIVE, 'utf8'))) : '',
};
const text = accuracyDocument(facts);
const table = accuracyTable(facts);
if (values.check) {
  check(DOCUMENT, text);
  check(TABLE, table);
} else {
  writeFileSync(values.out ?? DOCUMENT, text);
  writeFileSync(values.out === undefined ? TABLE : `${values.out}.csv`, table);
}

function check(file: URL, text: string): void {
  const stored = readFileSync(file, 'utf8');
  const name = file.href.slice(PACKAGE_ROOT.href.length);
  if (stored === text) {
    process.stdout.write(`${name} says what was computed.\n`);
    return;
  }
  const [is, should] = [stored.split('\n'), text.split('\n')];
  const at = should.findIndex((line, index) => line !== is[index]);
  process.stderr.write(
    `${name}:${at + 1} differs\n  is:     ${is[at]}\n  should: ${should[at]}\nrun: npm run accuracy\n`,
  );
  process.exitCode = 1;
}

function saysOf(isOwn: boolean): Map<string, string> {
  const chosen = SYSTEMS.filter((system) => OWN_SYSTEMS.includes(system) === isOwn);
  return new Map(chosen.map(({ name, says }) => [shortName(name), says]));
}

/** Runs scenarios as pieces of work; rows go by name. */
async function runAll(): Promise<AccuracyRow[]> {
  const names = builtInNames();
  const waiting = [...names];
  const done = new Map<string, AccuracyRow[]>();
  const work = async () => {
    const worker = fork(WORKER);
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const answer = new Promise<AccuracyRow[]>((resolve, reject) => {
        worker.once('message', (rows) => resolve(rows as AccuracyRow[]));
        worker.once('exit', (code) => reject(new Error(`the worker of ${name} ended with ${code}`)));
      });
      worker.send({ name, seeds });
      done.set(name, await answer);
      worker.removeAllListeners('exit');
      process.stderr.write(`${done.size}/${names.length} ${name}\n`);
    }
    worker.disconnect();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return names.flatMap((name) => done.get(name) ?? []);
}
