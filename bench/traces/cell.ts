import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Random } from '../../sim/cluster/random.js';
import type { WorldSettings } from '../../sim/cluster/world.js';
import { inSteps } from '../../sim/replay/in-steps.js';
import { measureTrace } from '../../sim/replay/measure-trace.js';
import { playTrace } from '../../sim/replay/play-trace.js';
import { readTrace } from '../../sim/replay/read-trace.js';
import { type ReplayedSystem, replayedSystemNamed, replayedSystems } from '../../sim/replay/replayed-system.js';
import type { TraceArrival, TraceOptions } from '../../sim/replay/trace.js';
import type { TraceRun } from '../../sim/replay/trace-run.js';
import { UNLIMITED } from '../../src/core/base/vocabulary.js';

/** One way of playing one trace. */
export interface Cell {
  readonly file: string;
  /** Column of the time. */
  readonly time: string;
  readonly nodes: number;
  readonly by: string;
  /** How long demand stays as it is; null = every row comes when the file says. */
  readonly stepMs: number | null;
  /** From writing a record to reading it. */
  readonly deliveryMs: number;
  /** Requests on the mean, which says how fast the file is played. */
  readonly perSecond: number;
  /** The quota as a part of that. */
  readonly quotaRatio: number;
  /** No more of the file is played. */
  readonly rows: number;
  /** Requests that a row stands for: what is few a second is played as many, and still lasts. */
  readonly copies: number;
  readonly seed: number;
  readonly settings: WorldSettings;
}

export interface CellFigures {
  readonly trace: string;
  readonly rows: number;
  readonly seconds: number;
  readonly cluster: Accuracy;
  readonly central: Accuracy;
  readonly recordsPerSecondAndNode: number;
}

export interface Accuracy {
  /** What was admitted above the quota in the worst 5 s, as a part of it. */
  readonly over5s: number;
  /** In quotas. */
  readonly worstSecond: number;
  /** What was admitted of Σ min(quota, demand), step by step; second by second where there are no steps. */
  readonly used: number;
  readonly admitted: number;
}

/** What the file can be as old as: a replay ends after a day of the nodes, and only the mean is wanted. */
const MEASURING_SPEED = 1000;
/** The bucket in the store is asked without delay: it is the measure, not a competitor. */
const ROUND_TRIP_MS = 0;

/** Plays nodes that share tokens, and one bucket that sees every request. Both begin with a full bucket. */
export async function playCell(cell: Cell): Promise<CellFigures> {
  const { file, nodes, stepMs, deliveryMs, perSecond, quotaRatio, copies, seed, settings } = cell;
  const measured = await measureTrace(rowsOf(cell, MEASURING_SPEED), MEASURING_SPEED);
  const speed = perSecond / measured.messagesPerSecond;
  const rows = rowsOf(cell, speed);
  const possible = new Possible((quotaRatio * perSecond * (stepMs ?? SECOND_MS)) / SECOND_MS, stepMs ?? SECOND_MS);
  const half = [deliveryMs / 2, deliveryMs / 2] as const;
  const [cluster, central] = await playTrace(
    possible.counting(atNodes(stepMs === null ? rows : inSteps(rows, stepMs, Random.stream(seed, 'steps')), cell)),
    {
      name: basename(file),
      systems: ['max-min', 'central-bucket'].map((name) => replayedSystemNamed(name, SYSTEMS) as ReplayedSystem),
      nodes,
      seed,
      quota: [quotaRatio * measured.messagesPerSecond, Infinity],
      speed,
      settings,
      delays: { appendMs: half, deliveryMs: half },
      maxRequest: UNLIMITED,
    },
  );
  const seconds = measured.arrivals / perSecond;
  const accuracyOf = ({ verdict, admitted }: TraceRun): Accuracy => {
    const { overAdmission, worstSecond } = verdict;
    return { over5s: overAdmission, worstSecond, used: admitted / possible.total, admitted };
  };
  return {
    trace: basename(file, '.csv'),
    rows: measured.arrivals / copies,
    seconds,
    cluster: accuracyOf(cluster),
    central: accuracyOf(central),
    recordsPerSecondAndNode: cluster.verdict.records / seconds / nodes,
  };
}

const SECOND_MS = 1000;
const SYSTEMS = replayedSystems(ROUND_TRIP_MS);

/** Σ min(quota, demand). */
class Possible {
  readonly #quota: number;
  readonly #stepMs: number;
  #step = 0;
  #demand = 0;
  #ended = 0;

  /** @param quota requests of one step */
  constructor(quota: number, stepMs: number) {
    this.#quota = quota;
    this.#stepMs = stepMs;
  }

  get total(): number {
    return this.#ended + Math.min(this.#quota, this.#demand);
  }

  async *counting(arrivals: AsyncIterable<TraceArrival>): AsyncGenerator<TraceArrival> {
    for await (const arrival of arrivals) {
      const step = Math.floor(arrival.atMs / this.#stepMs);
      if (step > this.#step) {
        this.#ended = this.total;
        this.#demand = 0;
        this.#step = step;
      }
      this.#demand++;
      yield arrival;
    }
  }
}

async function* rowsOf({ file, time, nodes, by, rows, copies }: Cell, speed: number): AsyncGenerator<TraceArrival> {
  const options: TraceOptions = { ...ONE_MESSAGE, time, speed, nodes, by };
  let read = 0;
  for await (const arrival of readTrace(createReadStream(file), file, options)) {
    for (let copy = 0; copy < copies; copy++) yield arrival;
    if (++read === rows) return;
  }
}

/** What a key asks for stays at its node; without keys each copy of a row comes where it happens to. */
async function* atNodes(
  arrivals: AsyncIterable<TraceArrival>,
  { by, nodes, seed }: Cell,
): AsyncGenerator<TraceArrival> {
  const random = Random.stream(seed, 'nodes');
  let turn = 0;
  for await (const arrival of arrivals) {
    if (by === 'round-robin') yield { ...arrival, node: turn++ % nodes };
    else if (by === 'hash') yield { ...arrival, node: Math.floor(random.next() * nodes) };
    else yield arrival;
  }
}

const ONE_MESSAGE = { timeFormat: 'auto', messages: '1', bytes: '0', delimiter: ',' } as const;
