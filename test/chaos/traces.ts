import { FAULTS, type FaultKind } from './fault-table.js';
import { type HappenedFault, whom } from './happened.js';
import { BACK_WITHIN_MS, ISOLATION_AFTER_MS } from './promises.js';
import { NODES } from './schedule.js';
import type { Sample, SeenNode } from './watch.js';
import { nodeName } from './workload.js';

/** A fault that left no trace in what nodes say: it was not done, or a node hides it. */
export interface Traceless {
  readonly happened: HappenedFault;
  readonly what: string;
}

/** Time for a node's rounds and its answer on a machine that does much else. */
const SHOWN_WITHIN_MS = 2000;
/** Time for an answer that was on its way when the process was stopped. */
const UNDER_WAY_MS = 500;

const ISOLATES: ReadonlySet<FaultKind> = new Set([
  ...(['link-reset', 'link-drop', 'link-half-open'] as const),
  ...(['brokers-two-killed', 'brokers-all-frozen'] as const),
]);
const RESTARTS: ReadonlySet<FaultKind> = new Set([
  'node-kill',
  'node-restart',
  'rolling-deploy',
  'node-twice',
  'partitions-added',
]);
const OTHER_LOGS: ReadonlySet<FaultKind> = new Set(['topic-anew', 'partitions-added']);
const ALL_NODES: readonly number[] = Array.from({ length: NODES }, (_, node) => node);

/**
 * Faults that must show in what every node says of itself, and did not: who hears nothing for more than 3 s says that it is isolated
 * (docs/operate/when-the-topic-is-away.md), who was started anew has another life, who was frozen answers nobody, and a topic that was made anew is
 * another log for everybody. The other kinds are looked at when they are done (faults.ts).
 */
export function tracelessOf(samples: readonly Sample[], happened: readonly HappenedFault[]): Traceless[] {
  const byNode = ALL_NODES.map((node) => samples.filter((sample) => sample.node === node));
  return happened.flatMap((one) => {
    const { kind, node } = one.fault;
    const roundDoneMs = Math.max(...happened.flatMap(({ round, doneMs }) => (round === one.round ? [doneMs] : [])));
    const drawn = node === null ? ALL_NODES : [node];
    const hit = FAULTS[kind].scope === 'topic' ? ALL_NODES : drawn;
    const missing = [
      ...(ISOLATES.has(kind) ? hit.flatMap((at) => notIsolated(at, byNode, one)) : []),
      ...(RESTARTS.has(kind) ? drawn.flatMap((at) => sameLife(at, byNode, one)) : []),
      ...(OTHER_LOGS.has(kind) ? hit.flatMap((at) => sameLog(at, byNode, one, roundDoneMs)) : []),
      ...(kind === 'node-freeze' ? answered(node as number, byNode, one) : []),
    ];
    return missing.map((what) => ({ happened: one, what: `${[kind, whom(one)].join(' ').trimEnd()}: ${what}` }));
  });
}

type ByNode = readonly (readonly Sample[])[];

function notIsolated(node: number, byNode: ByNode, { fromMs, remedyMs }: HappenedFault): string[] {
  const sinceMs = fromMs + ISOLATION_AFTER_MS + SHOWN_WITHIN_MS;
  const silent = seenIn(node, byNode, sinceMs, remedyMs).filter(
    ({ degraded }) => !degraded.some((reason) => reason.startsWith('isolated')),
  );
  return silent.length === 0 ? [] : [`${nodeName(node)} heard nothing for more than 5 s and did not say so`];
}

function sameLife(node: number, byNode: ByNode, { fromMs, doneMs }: HappenedFault): string[] {
  const before = seenIn(node, byNode, 0, fromMs).at(-1);
  const after = seenIn(node, byNode, doneMs, Infinity)[0];
  // Lives are counted by the log: in another one it may begin at the number that it had.
  const isSame = before?.incarnation === after?.incarnation && before?.epoch === after?.epoch;
  return isSame && before !== undefined ? [`${nodeName(node)} has the life that it had before`] : [];
}

/** A node that is cut off in the same round finds the other log when it is back. */
function sameLog(node: number, byNode: ByNode, { fromMs }: HappenedFault, roundDoneMs: number): string[] {
  const before = seenIn(node, byNode, 0, fromMs).at(-1);
  const after = seenIn(node, byNode, roundDoneMs + BACK_WITHIN_MS, Infinity)[0];
  const isSame = before !== undefined && after !== undefined && before.epoch === after.epoch;
  return isSame ? [`${nodeName(node)} reads the log that it read before`] : [];
}

function answered(node: number, byNode: ByNode, { fromMs, remedyMs }: HappenedFault): string[] {
  const seen = seenIn(node, byNode, fromMs + UNDER_WAY_MS, remedyMs);
  return seen.length === 0 ? [] : [`${nodeName(node)} answered while it was frozen`];
}

function seenIn(node: number, byNode: ByNode, fromMs: number, toMs: number): SeenNode[] {
  return (byNode[node] ?? []).flatMap(({ atMs, seen }) =>
    seen !== null && atMs > fromMs && atMs < toMs ? [seen] : [],
  );
}
