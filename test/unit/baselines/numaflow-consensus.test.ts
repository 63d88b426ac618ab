import { expect, test } from 'vitest';
import { PoolStore } from '../../../sim/baselines/numaflow/pool-store.js';
import { readVectors } from '../../vectors/read-vectors.js';

interface Answer {
  readonly live?: number;
  readonly verdict?: string;
  readonly value?: number;
  readonly agreed?: number;
  readonly rounds?: number;
}

interface Event {
  readonly op: string;
  readonly node?: string;
  readonly nodes?: readonly string[];
  readonly report?: number;
  readonly callerClockSkewSec?: number;
  readonly sec?: number;
  readonly n?: number;
  readonly asShipped?: Answer;
}

interface ConsensusCase {
  readonly id: string;
  readonly group: string;
  readonly ttlSec: number;
  readonly events: readonly Event[];
}

/** The scenario clock of the file. */
const START_SEC = 1000;
/** More rounds than any case needs. */
const ROUNDS_MAX = 20;
const { cases } = readVectors<{ readonly cases: readonly ConsensusCase[] }>('numaflow-consensus.json');

/** Pods around the store: what each reports, and by what it divides. */
class Pods {
  readonly #store: PoolStore;
  readonly #pods = new Map<string, { desired: number; known: number }>();
  nowSec = START_SEC;

  constructor(ttlSec: number) {
    this.#store = new PoolStore(ttlSec);
  }

  /** One event; what the baseline does not keep (levels for a resume) is not compared. */
  play({ op, node = '', nodes = [node], report = 0, callerClockSkewSec = 0, sec = 0, n = 0, asShipped }: Event): void {
    if (op === 'register') expect(this.#store.register(node, this.nowSec)).toBe(asShipped?.live);
    else if (op === 'sync') {
      const answer = this.#store.sync(node, report, this.nowSec + callerClockSkewSec);
      expect(answer).toEqual({ verdict: asShipped?.verdict, size: asShipped?.value });
    } else if (op === 'join') for (const joining of nodes) this.#join(joining);
    else if (op === 'leave') for (const leaving of nodes) this.#end(leaving, true);
    else if (op === 'crash') for (const crashing of nodes) this.#end(crashing, false);
    else if (op === 'advance') this.nowSec += sec;
    else if (op === 'rounds') for (let round = 0; round < n; round++) this.#round();
    else if (op === 'settle') this.#settle(asShipped as Answer);
    else throw new Error(`unknown op "${op}"`);
  }

  #join(node: string): void {
    const size = this.#store.register(node, this.nowSec);
    this.#pods.set(node, { desired: size, known: size });
  }

  #end(node: string, isClean: boolean): void {
    this.#pods.delete(node);
    if (isClean) this.#store.deregister(node);
  }

  /** True when all answers agree and all divide by the same. */
  #round(): boolean {
    let isAgreed = true;
    for (const [node, pod] of this.#pods) {
      const { verdict, size } = this.#store.sync(node, pod.desired, this.nowSec);
      pod.desired = size;
      if (verdict === 'AGREE') pod.known = size;
      else isAgreed = false;
    }
    return isAgreed && new Set([...this.#pods.values()].map(({ known }) => known)).size === 1;
  }

  #settle({ agreed, rounds }: Answer): void {
    let played = 1;
    while (!this.#round() && played < ROUNDS_MAX) played++;
    expect({ agreed: [...this.#pods.values()][0]?.known, rounds: played }).toEqual({ agreed, rounds });
  }
}

test.each(cases)('Numaflow as shipped agrees: $id', ({ group, ttlSec, events }) => {
  expect(['store', 'loop']).toContain(group);
  const pods = new Pods(ttlSec);
  for (const event of events) pods.play(event);
});

test('every case of the file is run and expects something', () => {
  console.log(`numaflow-consensus.json: ${cases.length} cases, the column asShipped`);
  expect(cases).toHaveLength(45);
  expect(cases.filter(({ events }) => !events.some(({ asShipped }) => asShipped !== undefined))).toEqual([]);
});
