/**
 * `npm run race [-- --only quotamesh-library,no-limit --traffic steady --seconds 20]`: one limit on several
 * processes, kept by quotamesh and by others, under the same requests in turn. README.md says what is measured, and how a
 * limiter of your own takes part. A run of all takes ten minutes; with `--page` parts of it add up to one page.
 */
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import type { Contender, Limit } from './contender.js';
import { tablesOf } from './race-document.js';
import { committed, keptResults, writePage } from './race-page.js';
import { type ContenderResult, merged, resultOf, type Setup, type TrafficResult } from './results.js';
import { runContender } from './run-contender.js';
import { TRAFFICS, type Traffic, type TrafficName, trafficOf } from './traffic.js';

const ALL = [
  'no-limit',
  'static-split',
  'quotamesh-library',
  'quotamesh-http',
  'quotamesh-envoy',
  'rate-limiter-flexible',
  'fastify-rate-limit',
  'envoy-ratelimit',
];
const DEFAULT_TRAFFICS = ['steady', 'skewed', 'trace', 'bursts', 'killed'];
const FAILURE_CHARACTERS = 120;
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: ALL.join(',') },
    traffic: { type: 'string', default: DEFAULT_TRAFFICS.join(',') },
    /** A module that exports `contender`. */
    contender: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string' },
    quota: { type: 'string', default: '1000' },
    burst: { type: 'string', default: '100' },
    nodes: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    /** Results are added to those that are kept, and the page is written from all of them. */
    page: { type: 'boolean', default: false },
    trace: { type: 'string', default: fileURLToPath(new URL('examples/traces/azure-llm-code-2023.csv', PACKAGE_ROOT)) },
    time: { type: 'string', default: 'TIMESTAMP' },
  },
});
const limit: Limit = {
  key: 'api',
  perSecond: Number(values.quota),
  burst: Number(values.burst),
  nodes: Number(values.nodes),
};
const setup: Setup = { limit, seed: Number(values.seed), machine: machine() };
const commit = values.page ? committed() : null;
const kept = values.page ? keptResults() : null;
merged(kept, setup, []);
const chosen = values.traffic.split(',').map((name) => {
  if ((TRAFFICS as readonly string[]).includes(name)) return name as TrafficName;
  throw new Error(`no traffic ${name}; there are ${TRAFFICS.join(', ')}`);
});
const modules = [
  ...values.only.split(',').map((name) => {
    if (ALL.includes(name)) return new URL(`contenders/${name}.js`, import.meta.url).href;
    throw new Error(`no contender ${name}; there are ${ALL.join(', ')}`);
  }),
  ...values.contender.map((path) => pathToFileURL(resolve(path)).href),
];
const traffics: Traffic[] = [];
for (const name of chosen) {
  traffics.push(
    await trafficOf(name, {
      perSecond: limit.perSecond,
      nodes: limit.nodes,
      seed: Number(values.seed),
      seconds: values.seconds === undefined ? null : Number(values.seconds),
      traceFile: values.trace,
      traceTime: values.time,
    }),
  );
}
const ran: ContenderResult[] = [];
for (const module of modules) ran.push(await race(module));
process.stdout.write(`\n${tablesOf(merged(null, setup, ran))}\n`);
if (values.page) writePage(merged(kept, setup, ran));

async function race(module: string): Promise<ContenderResult> {
  const { contender } = (await import(module)) as { contender: Contender };
  const line = { name: contender.name, burst: contender.burstOf(limit) };
  process.stdout.write(`${line.name}: ${line.burst}\n`);
  const load = loadavg()[0]?.toFixed(1);
  const done: TrafficResult[] = [];
  try {
    await runContender(contender, module, limit, traffics, (run) => {
      const at = new Date().toISOString().slice(0, 16).replace('T', ' ');
      const ran = `${at} UTC${commit === null ? '' : ` at ${commit}`}, load average ${load} before`;
      const result = resultOf(run, limit, contender, ran);
      const { admitted, asked, lost } = result.whole;
      if (lost === asked && result.away === null) {
        // It has hung somewhere before, in its own program or in ours: rows of it would be no figures of a limiter.
        done.length = 0;
        throw new Error(`it answered none of ${asked} requests (${result.name}): its rows are left out`);
      }
      done.push(result);
      const failure = run.nodes.find((node) => node.failure !== null)?.failure ?? 'no answer in time';
      const why = lost === 0 ? '' : `, ${lost} lost (${failure.slice(0, FAILURE_CHARACTERS)})`;
      process.stdout.write(`  ${result.name}: ${admitted} of ${asked} admitted${why}\n`);
    });
  } catch (error) {
    const failure = (error instanceof Error ? error.message : String(error)).split('\n')[0];
    process.stdout.write(`  not run: ${failure}\n`);
    process.exitCode = 1;
    return { ...line, failure, traffics: done };
  }
  return { ...line, failure: null, traffics: done };
}

function machine(): string {
  return `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`;
}
