/**
 * `npm run bench:deploys [-- --minutes 30 --only kafka --seed 2 --page]`: a service of three Express instances and 60
 * customers, through deploys, a kill and a freeze, with quotamesh and with express-rate-limit and Redis. The README of
 * bench/deploys says what is measured; `--page` adds the rows to docs/reference/race.md.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '../src/tools/processes/free-ports.js';
import { CONTENDERS, type Contender } from './deploys/contenders.js';
import { customersOf } from './deploys/customers.js';
import { type DeploysResult, deploysTable } from './deploys/document.js';
import { play, SCHEDULE } from './deploys/schedule.js';
import { NOBODY, Service } from './deploys/service.js';
import { type Asked, type Played, refusalsBelowQuota, verdictOf } from './deploys/verdict.js';
import { committed, keptResults, writePage } from './race/race-page.js';

const INSTANCES = 3;
/** Before the first request: instances know each other. */
const SETTLE_MS = 3000;
/** Waits so long for requests that are under way at the end. */
const END_MS = 2000;
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    only: { type: 'string', default: Object.keys(CONTENDERS).join(',') },
    seed: { type: 'string', default: '1' },
    page: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const endsMs = minutes * 60_000;
const commit = values.page ? committed() : null;
const customers = customersOf(seed, endsMs);
const chosen = values.only.split(',').map((name) => {
  const contender = CONTENDERS[name];
  if (contender === undefined) throw new Error(`no ${name}; there are ${Object.keys(CONTENDERS).join(', ')}`);
  return contender;
});
const results: DeploysResult[] = [];
for (const contender of chosen) {
  const load = loadavg()[0]?.toFixed(1);
  const at = new Date().toISOString().slice(0, 16).replace('T', ' ');
  process.stdout.write(`${contender.name}, ${minutes} minutes, seed ${seed}\n`);
  const played = await run(contender);
  const ran = `${at} UTC${commit === null ? '' : ` at ${commit}`}, load average ${load} before`;
  results.push({
    name: contender.name,
    minutes,
    seed,
    ran,
    bound: contender.bound.words,
    ...verdictOf(played, contender.bound),
  });
  printRefusals(played);
}
process.stdout.write(`\n${deploysTable(results)}\n`);
if (values.page) {
  const kept = keptResults();
  if (kept === null) throw new Error('there is no race yet to add to: npm run race -- --page');
  const others = (kept.deploys ?? []).filter((old) => {
    return !results.some(({ name }) => name === old.name && minutes === old.minutes && seed === old.seed);
  });
  writePage({ ...kept, deploys: [...others, ...results] });
}

async function run(contender: Contender): Promise<Played> {
  const servers = await contender.start();
  let beginsMs = performance.now();
  const nowMs = (): number => performance.now() - beginsMs;
  const service = new Service(await freePorts(INSTANCES), servers.settings, nowMs);
  try {
    await Promise.all(service.places.map((place) => service.start(place)));
    await sleep(SETTLE_MS);
    service.lifeChanges.length = 0;
    beginsMs = performance.now();
    const [asked, incidents] = await Promise.all([askAll(service, nowMs), playAll(service, nowMs)]);
    return { customers, asked, incidents, lifeChanges: service.lifeChanges };
  } finally {
    await service.close();
    await servers.stop();
  }
}

/** Asks every request at its time, whatever became of those before. */
async function askAll(service: Service, nowMs: () => number): Promise<Asked[]> {
  const asked = customers
    .flatMap(({ dueMs }, customer) =>
      Array.from(dueMs, (atMs): Asked => ({ customer, dueMs: atMs, endedMs: Number.NaN, status: NOBODY })),
    )
    .sort((one, other) => one.dueMs - other.dueMs);
  for (const each of asked) {
    const restMs = each.dueMs - nowMs();
    if (restMs > 0) await sleep(Math.max(1, restMs));
    void service.ask(customers[each.customer].name).then(({ status }) => {
      each.status = status;
      each.endedMs = nowMs();
    });
  }
  await sleep(END_MS);
  return asked.map((each) => ({ ...each }));
}

async function playAll(service: Service, nowMs: () => number): Promise<Played['incidents']> {
  const incidents: Played['incidents'][number][] = [];
  for (const [part, kind] of SCHEDULE) {
    await sleep(Math.max(0, part * endsMs - nowMs()));
    const fromMs = nowMs();
    await play(kind, service, endsMs);
    incidents.push({ kind, fromMs, toMs: nowMs() });
    process.stdout.write(`  ${(fromMs / 1000).toFixed(1)} s: ${kind}, ${((nowMs() - fromMs) / 1000).toFixed(1)} s\n`);
  }
  return incidents;
}

/** Prints who was refused below its quota, and when, so that it can be looked into. */
function printRefusals(played: Played): void {
  const counts = new Map<string, number>();
  for (const { customer, dueMs } of refusalsBelowQuota(played)) {
    const { name, habit, part } = played.customers[customer];
    const last = played.incidents.findLast(({ fromMs }) => fromMs <= dueMs);
    const after =
      last === undefined ? 'before all' : `${((dueMs - last.fromMs) / 1000).toFixed(0)} s into ${last.kind}`;
    const line = `  refused: ${name}, ${habit}, at most ${part} of its quota, ${after}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  for (const [line, count] of counts) process.stdout.write(`${line}: ${count}\n`);
}
