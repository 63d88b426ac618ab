import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { directionIndex, laneOf } from '../../../src/core/base/vocabulary.js';
import type { WholeNode } from '../../whole-node.js';
import '../../property/seed.js';
import { someOf } from '../../property/seed.js';
import { TwoNodes } from './two-nodes.js';

const STEP_MS = 10;
const LIE_EVERY_STEPS = 10;
const LENGTH_STEPS = 1000;
/** Slow quotas are looked at for longer: of ten pieces one more or less says little. */
const SLOW_LENGTH_STEPS = 4000;
/** The first second is that of any busy client: the node that wakes takes what the bucket holds. */
const LOOKED_AT_FROM_STEP = 200;

/** Says something to a node with the role `traffic`, the `at`-th time. */
type Lie = (node: WholeNode, at: number) => unknown;

interface Report {
  readonly enforcer?: string;
  readonly life?: number;
  readonly ttlMs?: number;
  readonly bytes?: number;
  readonly isHeldBack?: boolean;
}

function report(node: WholeNode, messages: number, told: Report = {}): Promise<unknown> {
  const { enforcer = 'e', life = 1, ttlMs = 3000, bytes = 0, isHeldBack = false } = told;
  const lane = laneOf(node.gate.groupIndex('orders'), directionIndex('publish'));
  const lanes = [{ lane, admitted: [messages, bytes] as const, isHeldBack }];
  const patience = { seen: null, waitMs: 0, signal: new AbortController().signal };
  return node.enforcers.report({ enforcer, life, ttlMs, lanes }, patience).catch(() => {});
}

const huge = fc.oneof(fc.nat(20), fc.constantFrom(1000, 1e6, 1e9, Number.MAX_SAFE_INTEGER));
const LIES = {
  'counts rise in one life': lieOf(huge, (units, node, at) => report(node, Math.min(units * at, 2 ** 53 - 1))),
  'a new name each time': lieOf(huge, async (units, node, at) => {
    await report(node, 0, { enforcer: `n${at}` });
    await report(node, units, { enforcer: `n${at}` });
  }),
  'a new life each time': lieOf(huge, (units, node, at) => report(node, at % 2 ? units : 0, { life: 1 + at / 2 })),
  'names that are always held back': lieOf(fc.integer({ min: 100, max: 30_000 }), (ttlMs, node, at) => {
    return report(node, 0, { enforcer: `h${at % 60}`, ttlMs, isHeldBack: true });
  }),
  bytes: lieOf(huge, (bytes, node, at) => report(node, at, { enforcer: 'b', bytes })),
  consumes: lieOf(huge, (units, node) => node.gate.consume('orders', { messages: Math.min(1e9, units + 1) })),
  'commits more than was reserved': lieOf(fc.integer({ min: 1, max: 100 }), (messages, node) => {
    const held = node.gate.reserve('orders', { messages: 1 });
    if ('commit' in held) held.commit({ messages });
  }),
  'wants all there is': lieOf(fc.constant(1), (messages, node) => {
    while (node.gate.tryAcquire('orders', { messages }).granted);
  }),
};

function lieOf(units: fc.Arbitrary<number>, say: (units: number, node: WholeNode, at: number) => unknown) {
  return units.map((some) => {
    const lie: Lie = (node, at) => say(some, node, at);
    return lie;
  });
}

/** Returns the part of its demand that the other node gets, a quarter of the quota, evenly spaced. */
async function servedBeside(lies: readonly Lie[], quota: number, more: object): Promise<number> {
  scene = await TwoNodes.start(quota, more);
  const [liar, other] = scene.nodes as readonly [WholeNode, WholeNode];
  let [asked, granted, due] = [0, 0, 0];
  for (let step = 0; step < (quota < 100 ? SLOW_LENGTH_STEPS : LENGTH_STEPS); step++) {
    const turn = step / LIE_EVERY_STEPS;
    if (Number.isInteger(turn)) await lies[turn % lies.length]?.(liar, turn);
    for (due += (quota / 4) * (STEP_MS / 1000); due >= 1; due--) {
      const isGranted = other.gate.tryAcquire('orders', { messages: 1 }).granted;
      if (step < LOOKED_AT_FROM_STEP) continue;
      asked++;
      if (isGranted) granted++;
    }
    await scene.time.advance(STEP_MS);
  }
  await scene.close();
  scene = null;
  return granted / asked;
}

let scene: TwoNodes | null = null;

afterEach(() => scene?.close());

const ALL = Object.keys(LIES) as (keyof typeof LIES)[];
const SOME = ['counts rise in one life', 'consumes', 'commits more than was reserved'] as const;

it.each([
  { quota: 300, more: {}, kinds: ALL },
  { quota: 300, more: { burst: 600 }, kinds: ALL },
  { quota: 10, more: {}, kinds: SOME },
  { quota: 10, more: { burst: 100 }, kinds: SOME },
])('whatever a caller says at one node, the other has its demand: $quota/s, $more', async ({ quota, more, kinds }) => {
  const any = fc.array(fc.oneof(...kinds.map((kind) => LIES[kind])), { minLength: 2, maxLength: 12 });
  const said = kinds.map((kind) => ({
    kind: kind as string,
    lies: fc.tuple(LIES[kind]) as fc.Arbitrary<readonly Lie[]>,
  }));
  if (quota >= 100) said.push({ kind: 'all in turn', lies: any });
  for (const { kind, lies } of someOf(said)) {
    const [spoken] = fc.sample(lies, { numRuns: 1 });
    expect(await servedBeside(spoken, quota, more), kind).toBeGreaterThanOrEqual(0.95);
  }
});
