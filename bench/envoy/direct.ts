import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { medianOf } from '../../src/tools/load/quantile.js';
import { paired, printAim, printHead, printSample } from '../limiter/figures.js';
import { cpuOf } from '../race/run-contender.js';
import { type Answered, type Asked, byGhz, byH2load, proveGranted, type Shape } from './direct-load.js';

const SECONDS = 3;
const WARM_SECONDS = 2;
const LOADS: readonly Load[] = [
  { tool: 'h2load', by: byH2load, shape: { connections: 1, inFlight: 1 } },
  { tool: 'h2load', by: byH2load, shape: { connections: 1, inFlight: 32 } },
  { tool: 'h2load', by: byH2load, shape: { connections: 8, inFlight: 4 } },
  { tool: 'ghz', by: byGhz, shape: { connections: 1, inFlight: 32 } },
];

interface Load {
  readonly tool: string;
  by(asked: Asked, shape: Shape, seconds: number): Promise<Answered>;
  readonly shape: Shape;
}

type Turn = Answered & { readonly micros: number };

/**
 * Asks both in turns, and a server that only answers, as the bound of node:http2. *Why the aims are of CPU, too:* with
 * generator and services on the same cores rates say as much about the generator.
 */
export async function measureDirect(rounds: number, [node, ratelimits]: readonly [Asked, Asked]): Promise<void> {
  const { child, bare } = await bareServer();
  try {
    const all = [node, ratelimits, bare];
    for (const each of [node, ratelimits]) await proveGranted(each);
    for (const each of all) await byH2load(each, { connections: 4, inFlight: 16 }, WARM_SECONDS);
    for (const load of LOADS) {
      const turns = new Map<Asked, Turn[]>(all.map((each) => [each, []]));
      for (let round = 0; round < rounds; round++) {
        for (const each of round % 2 === 0 ? all : all.toReversed()) turns.get(each)?.push(await play(load, each));
      }
      print(
        load,
        all.map((each) => ({ name: each.name, turns: turns.get(each) ?? [] })),
      );
    }
  } finally {
    child.disconnect();
  }
}

async function bareServer() {
  const child = fork(fileURLToPath(new URL('bare-server.js', import.meta.url)));
  const [port] = (await once(child, 'message')) as [number];
  const pids = () => [child.pid as number];
  return { child, bare: { name: 'node:http2 that only answers', port, domain: 'any', key: 'any', value: 'any', pids } };
}

async function play({ by, shape }: Load, asked: Asked): Promise<Turn> {
  const before = await sumOf(asked.pids());
  const answered = await by(asked, shape, SECONDS);
  return { ...answered, micros: ((await sumOf(asked.pids())) - before) / answered.count };
}

async function sumOf(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(cpuOf));
  return each.reduce((sum, micros) => sum + micros, 0);
}

function print({ tool, shape }: Load, rows: readonly { name: string; turns: readonly Turn[] }[]): void {
  const figures: [string, keyof Turn, number][] = [
    ['requests/s', 'perSecond', 0],
    ['ms, median', 'p50Ms', 2],
    ['ms, p99', 'p99Ms', 2],
    ['µs of CPU of the service per request', 'micros', 1],
  ];
  for (const [what, key, digits] of figures) {
    printHead(`${what}, asked directly by ${tool}, ${shape.connections} × ${shape.inFlight} in flight`);
    for (const { name, turns } of rows)
      printSample(
        name,
        turns.map((turn) => turn[key]),
        digits,
      );
  }
  const [node = [], ratelimits = []] = rows.map(({ turns }) => turns);
  const ratio = (key: keyof Turn) => {
    const figuresOf = (turns: readonly Turn[]) => turns.map((turn) => turn[key]);
    return medianOf(paired(figuresOf(node), figuresOf(ratelimits), (left, right) => left / right));
  };
  printHead('aims (medians of pairs within a round)');
  printAim('requests/s: a node / ratelimit + Redis ≥ 1.5', ratio('perSecond'), ratio('perSecond') >= 1.5, 2);
  printAim('CPU of the service: a node / ratelimit + Redis ≤ 0.5', ratio('micros'), ratio('micros') <= 0.5, 2);
  printAim('p99: a node / ratelimit + Redis < 1', ratio('p99Ms'), ratio('p99Ms') < 1, 2);
}
