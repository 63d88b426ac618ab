/**
 * `npm run mutants -- src/core/convergence [more paths] [--sample 40] [--seed 1] [--workers 1] [--seconds 30]
 * [--tests test/unit/core,test/property] [--json FILE] [--again FILE]`
 *
 * Changes one place of the source at a time and runs the tests that reach it through imports. A mutant that no test notices survives and
 * is listed. Mutants that cannot be noticed because they mean the same stand in mutants/equivalent.json, each with its reason.
 *
 * It runs the tests of the project `quick`, except those that compare with figures which the code under test has written. For each mutant
 * the tests of the module's own folder come first, then the others, as many as take `--seconds` without a mutant.
 * With `--tests` only the tests below the named paths judge; other tests may notice what they let pass.
 * With `--again` only those mutants are judged that an earlier run has listed in its `--json` file as survived.
 * Ctrl-C ends it with the figures until then.
 *
 * `npm run mutants -- --mends [src/core/report, …] [--seeds 2000] [--workers 1]` takes out one mend of mutants/mends.json at a time, and
 * prints how many seeds the swarm's stories of accounts need to find its fault.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, root } from './freshness.mjs';

ensureBuilt();
const { mutantsOf } = await import('./mutants/operators.mjs');
const { relatedTests } = await import('./mutants/related-tests.mjs');
const { Tree } = await import('./mutants/tree.mjs');
const { Random } = await import('../dist/sim/cluster/random.js');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '30' },
    tests: { type: 'string', default: 'test/' },
    json: { type: 'string' },
    again: { type: 'string' },
    mends: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '2000' },
  },
});
if (values.mends) {
  const { playMends } = await import('./mutants/mends.mjs');
  await playMends(positionals, { seeds: Number(values.seeds), workers: Number(values.workers) });
  process.exit();
}
if (positionals.length === 0) {
  process.stderr.write('usage: npm run mutants -- src/core/convergence [--sample 40] [--seed 1] [--workers 1]\n');
  process.exit(2);
}

/** Tests that cannot judge: `npm run accuracy` writes their figures from the code itself, or they ask other tools. */
const NO_JUDGES = [/^test\/simulation\/accuracy/, /^test\/(deploy|fuzz|redis)\//, /^test\/unit\/(page|packaging)\//];
/** Tests of other projects of vitest.config.ts: processes, real topics, real time. */
const NOT_QUICK = [
  /^test\/(integration|long|kafka)\//,
  /^test\/conformance\/(kafka|redis)/,
  /^test\/unit\/cli\/(commands|operate|run|reload|process-guard)/,
  /ways-to-take/,
];
const UNNOTICED = new Set(['survived', 'untested']);
const BASELINE_TIMEOUT_MS = 1_200_000;
/** Time limit of a test in times of its baseline: beside other work a machine takes several times as long. */
const SLOWER = 5;

const EQUIVALENT = JSON.parse(readFileSync(new URL('./mutants/equivalent.json', import.meta.url), 'utf8'));
const related = relatedTests();
const modules = positionals.flatMap((path) => modulesIn(path));
const trees = Array.from({ length: Number(values.workers) }, () => new Tree());
try {
  const tests = await baseline(trees[0]);
  const queue = chosenMutants();
  const verdicts = [];
  // What has been judged by then is reported.
  process.once('SIGINT', () => queue.splice(0));
  await Promise.all(trees.map((tree) => work(tree, queue, tests, verdicts)));
  report(verdicts);
} finally {
  for (const tree of trees) tree.remove();
}

function modulesIn(path) {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => {
    const inside = `${path.replace(/\/$/, '')}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'generated' ? [] : modulesIn(inside);
    return inside.endsWith('.ts') && !inside.endsWith('.d.ts') ? [inside] : [];
  });
}

/** The mutants of every folder, shuffled by the seed, as many as the sample is; equivalent ones are not among them. */
function chosenMutants() {
  const perFolder = new Map();
  for (const module of modules) {
    const source = readFileSync(join(root, module), 'utf8');
    const mutants = mutantsOf(module, source).map((mutant) => ({ ...mutant, module, source }));
    const folder = dirname(module);
    perFolder.set(folder, [...(perFolder.get(folder) ?? []), ...mutants]);
  }
  if (values.again) {
    const before = JSON.parse(readFileSync(values.again, 'utf8')).filter(({ verdict }) => UNNOTICED.has(verdict));
    const isAsked = ({ module, says }) => before.some((one) => one.module === module && one.says === says);
    return [...perFolder.values()].flat().filter(isAsked);
  }
  const size = Number(values.sample) || Infinity;
  return [...perFolder.values()].flatMap((mutants) => shuffled(mutants, Number(values.seed)).slice(0, size));
}

function shuffled(list, seed) {
  const random = new Random(seed);
  const keyed = list.map((each) => ({ each, key: random.next() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ each }) => each);
}

/** Every test that reaches one of the modules, and what it takes: all pass with modules that are compiled as mutants are. */
async function baseline(tree) {
  const judges = values.tests.split(',');
  const isJudge = (file) => file.endsWith('.test.ts') && judges.some((path) => file.startsWith(path)) && isQuick(file);
  const all = filesUnder('test').filter(isJudge);
  const asked = modules.flatMap((module) =>
    related(
      all.map((file) => ({ file, ms: 0 })),
      module,
    ),
  );
  const files = [...new Set(asked.map(({ file }) => file))];
  for (const module of modules) tree.put(module, readFileSync(join(root, module), 'utf8'));
  const outcome = await tree.test(files, { bail: 0, timeoutMs: BASELINE_TIMEOUT_MS });
  const broken = outcome?.results.filter(({ state }) => state === 'failed') ?? [];
  for (const { file, failed } of broken)
    process.stdout.write(`left out, since it fails without a mutant: ${file}: ${failed[0]}\n`);
  for (const module of modules) tree.restore(module);
  if (outcome === null || outcome.results.length === broken.length) throw new Error('no test passes without a mutant');
  return outcome.results.filter(({ state }) => state !== 'failed');
}

async function work(tree, queue, tests, verdicts) {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const { verdict, by } = await judge(tree, mutant, tests);
    verdicts.push({ ...mutant, verdict, by });
    const { module, line, says } = mutant;
    if (verdict !== 'killed') process.stdout.write(`${verdict}: ${module}:${line}: ${says}\n`);
  }
}

async function judge(tree, mutant, tests) {
  const { module, source, start, end, code } = mutant;
  if (reasonOf(mutant) !== undefined) return { verdict: 'equivalent' };
  const chosen = [];
  let totalMs = 0;
  for (const test of related(tests, module)) {
    totalMs += test.ms;
    if (chosen.length > 0 && totalMs > Number(values.seconds) * 1000) break;
    chosen.push(test.file);
  }
  if (chosen.length === 0) return { verdict: 'untested' };
  tree.put(module, source.slice(0, start) + code + source.slice(end));
  const outcome = await tree.test(chosen, { bail: 1, timeoutMs: 20_000 + SLOWER * totalMs });
  tree.restore(module);
  if (outcome?.passed) return { verdict: 'survived' };
  const failed = outcome?.results.find(({ state }) => state === 'failed');
  return {
    verdict: 'killed',
    by: failed ? `${failed.file}: ${failed.failed[0]}` : 'time, memory or a module that does not load',
  };
}

/** Where a module has the same line twice, `after` is the one before it. */
function reasonOf({ module, says, line, source }) {
  const before = source.split('\n')[line - 2]?.trim();
  const isMeant = (each) => each.module === module && each.says === says && (each.after ?? before) === before;
  return EQUIVALENT.find(isMeant)?.reason;
}

function isQuick(file) {
  return !NO_JUDGES.some((pattern) => pattern.test(file)) && !NOT_QUICK.some((pattern) => pattern.test(file));
}

function filesUnder(folder) {
  return readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`);
}

function report(verdicts) {
  const rows = [];
  for (const folder of new Set(verdicts.map(({ module }) => dirname(module)))) {
    const own = verdicts.filter(({ module }) => dirname(module) === folder);
    const count = (verdict) => own.filter((each) => each.verdict === verdict).length;
    const judged = own.length - count('equivalent');
    const killed = count('killed');
    const percent = judged === 0 ? '–' : `${((100 * killed) / judged).toFixed(1)} %`;
    rows.push(
      `| \`${folder}\` | ${own.length} | ${count('equivalent')} | ${killed} | ${judged - killed} | ${percent} |`,
    );
  }
  const head = ['| folder | mutants | equivalent | noticed | not noticed | noticed of those that differ |'];
  process.stdout.write(`${[...head, '|---|---:|---:|---:|---:|---:|', ...rows].join('\n')}\n`);
  if (values.json) {
    const lines = verdicts.map(({ module, line, says, verdict, by }) => ({ module, line, says, verdict, by }));
    writeFileSync(values.json, JSON.stringify(lines, null, 1));
  }
}
