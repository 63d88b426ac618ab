import { describe, expect, test } from 'vitest';
import { Claims, nextDivisor } from '../../../../src/core/usage-map/pool/agreement.js';
import { readVectors } from '../../../vectors/read-vectors.js';
import { LeftCeilings } from '../ramp/left-ceilings.js';

interface Answer {
  readonly live?: number;
  readonly level?: number;
  readonly verdict?: string;
  readonly value?: number;
  readonly agreed?: number;
}

interface Event {
  readonly op: string;
  readonly node?: string;
  readonly nodes?: readonly string[];
  readonly report?: number;
  readonly level?: number;
  readonly sec?: number;
  readonly n?: number;
  readonly asDesigned?: Answer;
}

interface ConsensusCase {
  readonly id: string;
  readonly group: string;
  readonly ttlSec: number;
  readonly columnsDiffer: boolean;
  readonly events: readonly Event[];
}

const { cases, conventions } = readVectors<{
  readonly cases: readonly ConsensusCase[];
  readonly conventions: { readonly withinRounds: number };
}>('numaflow-consensus.json');

/**
 * The store of the text, a model: whom it forgets and when is its own rule (test/vectors/README.md). Around it the
 * production verdict, production's memory of levels, and members that follow the production rule.
 */
class Pool {
  readonly #ttlSec: number;
  readonly #claims = new Claims<string>();
  /** The text's answer without agreement is the largest claim; production divides by no claim. */
  readonly #claimed = new Map<string, number>();
  readonly #heardSec = new Map<string, number>();
  readonly #levels: LeftCeilings;
  /** In order of joining; divisor 0 = it waits. */
  readonly #members = new Map<string, { claim: number; divisor: number }>();
  #nowSec = 1000;

  constructor(ttlSec: number) {
    this.#ttlSec = ttlSec;
    this.#levels = new LeftCeilings(ttlSec);
  }

  play({ op, node = '', nodes = [node], report = 0, level = 0, sec = 0, n = 0, asDesigned }: Event): void {
    if (op === 'register') expect(this.#register(node)).toEqual(asDesigned);
    else if (op === 'sync') expect(this.#sync(node, report)).toEqual(asDesigned);
    else if (op === 'join') for (const name of nodes) this.#join(name);
    else if (op === 'leave') for (const name of nodes) this.#leave(name, level);
    else if (op === 'crash') for (const name of nodes) this.#members.delete(name);
    else if (op === 'advance') this.#nowSec += sec;
    else if (op === 'rounds') for (let round = 0; round < n; round++) this.#round();
    else if (op === 'settle') this.#settle(asDesigned as Answer);
    else throw new Error(`unknown op "${op}"`);
  }

  #expire(): void {
    for (const [name, sec] of this.#heardSec) if (sec < this.#nowSec - this.#ttlSec) this.#forget(name);
  }

  #forget(name: string): void {
    this.#heardSec.delete(name);
    this.#claims.delete(name);
    this.#claimed.delete(name);
  }

  #claim(name: string, claim: number): void {
    this.#claims.set(name, claim);
    this.#claimed.set(name, claim);
  }

  #register(name: string): Answer {
    this.#expire();
    this.#heardSec.set(name, this.#nowSec);
    const live = this.#heardSec.size;
    this.#claim(name, live);
    return { live, level: this.#levels.of(name, this.#nowSec) };
  }

  #sync(name: string, claim: number): Answer {
    this.#heardSec.set(name, this.#nowSec);
    this.#expire();
    this.#claim(name, claim);
    const { isAgreed, live } = this.#claims.verdict();
    return { verdict: isAgreed ? 'AGREE' : 'DISAGREE', value: Math.max(...this.#claimed.values()), live };
  }

  #join(name: string): void {
    this.#members.set(name, { claim: this.#register(name).live as number, divisor: 0 });
  }

  #leave(name: string, level: number): void {
    this.#members.delete(name);
    this.#forget(name);
    this.#levels.leave(name, level, this.#nowSec);
  }

  /** True when all answers agree and all divide by the same. */
  #round(): boolean {
    let isAgreed = true;
    for (const [name, member] of this.#members) {
      this.#sync(name, member.claim);
      const verdict = this.#claims.verdict();
      if (verdict.isAgreed || member.divisor > 0) member.divisor = nextDivisor(verdict, member.divisor);
      member.claim = verdict.live;
      if (!verdict.isAgreed) isAgreed = false;
      this.#expectSafe();
    }
    return isAgreed && new Set([...this.#members.values()].map(({ divisor }) => divisor)).size === 1;
  }

  /** Those that crashed hold nothing any more; those that are expired unheard have left the sum before. */
  #expectSafe(): void {
    let sum = 0;
    for (const { divisor } of this.#members.values()) if (divisor > 0) sum += 1 / divisor;
    expect(sum).toBeLessThanOrEqual(1 + 1e-12);
  }

  #settle({ agreed }: Answer): void {
    let rounds = 1;
    while (!this.#round() && rounds <= conventions.withinRounds) rounds++;
    expect(rounds).toBeLessThanOrEqual(conventions.withinRounds);
    expect([...this.#members.values()][0]?.divisor).toBe(agreed);
  }
}

describe('the pool as designed', () => {
  test.each(cases)('$id', ({ group, ttlSec, events }) => {
    expect(['store', 'loop']).toContain(group);
    const pool = new Pool(ttlSec);
    for (const event of events) pool.play(event);
  });

  test('every case is run', () => {
    const differing = cases.filter(({ columnsDiffer }) => columnsDiffer).length;
    console.log(
      `numaflow-consensus.json: ${cases.length} cases, the column asDesigned; ${differing} differ as shipped`,
    );
    expect([cases.length, differing]).toEqual([45, 22]);
  });
});
