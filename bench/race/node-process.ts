/** One node of a contender: its limiter, and the requests that reach it, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import type { Contender, Limit } from './contender.js';
import { PATIENCE_MS } from './figures.js';
import { type Played, playSchedule } from './play-schedule.js';

export interface JoinOrder {
  readonly kind: 'join';
  /** Where the module of the contender is. */
  readonly module: string;
  readonly node: number;
  readonly limit: Limit;
  readonly address: unknown;
}

export interface PlayOrder {
  readonly kind: 'play';
  readonly dueMs: Float64Array;
  /** Epoch milliseconds. */
  readonly beginsMs: number;
}

export interface PlayedOrder extends Played {
  /** CPU of the process while it played. */
  readonly cpuMicros: number;
}

/** A node is told to join first. */
export type NodeOrder = JoinOrder | PlayOrder | { readonly kind: 'close' };

process.on('disconnect', () => process.exit(0));
const join = await new Promise<JoinOrder>((resolve) => {
  process.once('message', (message) => resolve(message as JoinOrder));
});
const { contender } = (await import(join.module)) as { contender: Contender };
const limiter = await contender.join(join.node, join.limit, join.address);
process.on('message', (message) => void obey(message as NodeOrder));
process.send?.('joined');

async function obey(order: NodeOrder): Promise<void> {
  if (order.kind === 'play') process.send?.(await play(order));
  if (order.kind !== 'close') return;
  await limiter.close();
  process.exit(0);
}

async function play({ dueMs, beginsMs }: PlayOrder): Promise<PlayedOrder> {
  const clock = { nowMs: () => epochNow() - beginsMs, sleep: (ms: number) => sleep(ms) };
  const before = process.cpuUsage();
  const played = await playSchedule(dueMs, join.limit.key, limiter, clock, PATIENCE_MS);
  const { user, system } = process.cpuUsage(before);
  return { ...played, cpuMicros: user + system };
}
