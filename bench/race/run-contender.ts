import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { Child } from '../../src/tools/processes/child.js';
import type { Contender, Limit, Servers } from './contender.js';
import { PATIENCE_MS } from './figures.js';
import type { JoinOrder, PlayedOrder } from './node-process.js';
import type { Played } from './play-schedule.js';
import type { Traffic } from './traffic.js';

/** What one contender made of one traffic. */
export interface Run {
  readonly traffic: Traffic;
  readonly nodes: readonly Played[];
  /** CPU of all processes but that of the race; null where a store was killed, and where the system does not tell. */
  readonly cpuMicros: number | null;
}

const PROGRAM = fileURLToPath(new URL('node-process.js', import.meta.url));
/** From sending the schedules to their beginning. */
const AHEAD_MS = 500;
const STOP_MS = 5000;
/** The unit of /proc/PID/stat, which Linux fixes for programs at a hundredth of a second. */
const TICK_MICROS = 10_000;

/** Starts servers and nodes, plays one traffic after the other on them, and stops all. */
export async function runContender(
  contender: Contender,
  module: string,
  limit: Limit,
  traffics: readonly Traffic[],
  onRun: (run: Run) => void,
): Promise<void> {
  const servers = await contender.start(limit);
  const nodes = Array.from({ length: limit.nodes }, () => new Child([PROGRAM]));
  try {
    await Promise.all(
      nodes.map((child, node) => {
        const order: JoinOrder = { kind: 'join', module, node, limit, address: servers.address };
        return child.ask(order);
      }),
    );
    for (const traffic of traffics) onRun(await playTraffic(traffic, servers, nodes));
  } finally {
    for (const child of nodes) child.send({ kind: 'close' });
    await Promise.all(nodes.map((child) => Promise.race([child.ended, sleep(STOP_MS)])));
    await Promise.all(nodes.map((child) => child.stop(STOP_MS)));
    await servers.stop();
  }
}

async function playTraffic(traffic: Traffic, servers: Servers, nodes: readonly Child[]): Promise<Run> {
  const beginsMs = epochNow() + AHEAD_MS;
  const playing = nodes.map((child, node) =>
    child.ask<PlayedOrder>({ kind: 'play', dueMs: traffic.dueMs[node], beginsMs }),
  );
  await sleep(beginsMs - epochNow());
  const before = await serverMicros(servers);
  if (traffic.away !== null && servers.store !== null) {
    await sleep(beginsMs + traffic.away.fromMs - epochNow());
    await servers.store.kill();
    await sleep(beginsMs + traffic.away.toMs - epochNow());
    await servers.store.start();
  }
  const played = await Promise.all(playing);
  const after = await serverMicros(servers);
  const own = played.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
  await sleep(Math.max(0, beginsMs + traffic.endsMs + PATIENCE_MS - epochNow()));
  const micros = own + after - before;
  return { traffic, nodes: played, cpuMicros: traffic.away !== null || Number.isNaN(micros) ? null : micros };
}

/** User and system time of the servers; NaN where there is no /proc. */
async function serverMicros(servers: Servers): Promise<number> {
  const each = await Promise.all(servers.pids().map(cpuOf));
  return each.reduce((sum, micros) => sum + micros, 0);
}

/** Reads the user and system time of a process in microseconds; NaN where there is no /proc. */
export async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program may have spaces in it, and stands in brackets before everything that is read here.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user ?? Number.NaN) + Number(system ?? Number.NaN)) * TICK_MICROS;
}
