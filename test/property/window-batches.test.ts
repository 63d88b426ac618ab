import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MESSAGES } from '../../src/core/base/vocabulary.js';
import type { Batch } from '../../src/node/api/decision.js';
import { windowedNode } from '../simulation/windowed-node.js';
import type { WholeNode } from '../whole-node.js';
import { runs } from './seed.js';

const WINDOW_MS = 1000;

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 1500 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('take' as const), messages: fc.integer({ min: 1, max: 400 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'take-all' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('hand-back' as const),
      /** Which batch, oldest first, ended ones too; and how much of it: above 1 more than was granted. */
      which: fc.double({ min: 0, max: 0.999, noNaN: true }),
      part: fc.double({ min: 0, max: 1.5, noNaN: true }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), perSecond: fc.integer({ min: 0, max: 300 }) }),
  },
);

/** The same window in whole thousandths of a token, with whole milliseconds and limits: nothing is rounded. */
class Twin {
  limit = 0;
  left = 0;
  nowMs = 0;
  #window = 0;
  readonly grants = new Map<string, { granted: number; window: number }>();

  pass(ms: number): void {
    this.nowMs += ms;
    const window = Math.floor(this.nowMs / WINDOW_MS);
    for (; this.#window < window; this.#window++) {
      // Nothing of a window without a limit is saved; debts are repaid, and of what is left only the part of a token stays.
      this.left = this.left < 0 ? this.left : this.limit === 0 ? 0 : this.left % 1000;
      this.left += this.limit * 1000;
    }
  }

  change(limit: number): void {
    const changed = this.left + (limit - this.limit) * (WINDOW_MS - (this.nowMs % WINDOW_MS));
    this.left = limit < this.limit ? Math.min(changed, limit * 1000) : changed;
    this.limit = limit;
  }

  /** What a batch of so many gets. */
  take(messages: number): number {
    const granted = this.limit === 0 ? 0 : Math.max(0, Math.min(messages, Math.floor(this.left / 1000)));
    this.left -= granted * 1000;
    return granted;
  }

  refund(id: string, unused: number): boolean {
    const grant = this.grants.get(id);
    if (grant === undefined || grant.window !== this.#window || unused > grant.granted) return false;
    this.grants.delete(id);
    if (this.limit > 0) this.left = Math.max(this.left, Math.min(this.left + unused * 1000, this.limit * 1000));
    return true;
  }

  note(id: string, granted: number): void {
    this.grants.set(id, { granted, window: this.#window });
  }
}

class Scene {
  nowMs = 0;
  readonly node: WholeNode;
  readonly batches: Batch[] = [];
  /** Per window: net of what was handed back, and the largest limit in it. */
  readonly used = new Map<number, number>();
  readonly most = new Map<number, number>();

  constructor() {
    this.node = windowedNode(WINDOW_MS, () => this.nowMs);
  }

  limit(perSecond: number): void {
    this.node.limiter.setLimit(0, MESSAGES, perSecond, perSecond, this.nowMs);
    this.held(perSecond);
  }

  held(perSecond: number): void {
    this.most.set(this.window, Math.max(this.most.get(this.window) ?? 0, perSecond));
  }

  get window(): number {
    return Math.floor(this.nowMs / WINDOW_MS);
  }

  count(messages: number): void {
    this.used.set(this.window, (this.used.get(this.window) ?? 0) + messages);
  }

  /** What was granted. */
  take(amounts: { messages: number } | 'all'): Batch | null {
    const answer = this.node.gate.batches.tryTake('a', amounts);
    if (!answer.granted) return null;
    this.batches.push(answer);
    this.count(answer.messages);
    return answer;
  }

  refund(batch: Batch, unused: number): boolean {
    try {
      batch.refund({ messages: unused });
    } catch {
      return false;
    }
    this.count(-unused);
    return true;
  }
}

test('never more than the largest share in any window, nothing minted, whatever is taken, handed back and changed', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
      const scene = new Scene();
      const twin = new Twin();
      scene.limit(100);
      twin.change(100);
      for (const now of steps) {
        if (now.kind === 'pass') {
          scene.nowMs += now.ms;
          twin.pass(now.ms);
          scene.held(twin.limit);
        } else if (now.kind === 'limit') {
          scene.limit(now.perSecond);
          twin.change(now.perSecond);
        } else if (now.kind === 'hand-back') {
          const batch = scene.batches[Math.floor(now.which * scene.batches.length)];
          if (batch === undefined) continue;
          const unused = Math.round(batch.messages * now.part);
          expect(scene.refund(batch, unused)).toBe(twin.refund(batch.id, unused));
        } else {
          const asked = now.kind === 'take' ? now.messages : 1e6;
          const batch = scene.take(now.kind === 'take' ? { messages: asked } : 'all');
          const expected = twin.take(asked);
          expect(batch?.messages ?? 0).toBe(expected);
          if (batch !== null) twin.note(batch.id, expected);
        }
        scene.node.limiter.buckets.refill(0, scene.nowMs);
        expect(scene.node.limiter.tokens.at(0) * 1000).toBeCloseTo(twin.left, 3);
      }
      // A saved part of a token may make up one more.
      for (const [window, used] of scene.used) expect(used).toBeLessThanOrEqual((scene.most.get(window) ?? 0) + 1);
    }),
    runs(1000),
  );
});
