import { FAULTS } from './fault-table.js';
import { BACK_WITHIN_MS, ISOLATION_AFTER_MS, PARTITION_HEARTBEAT_MS, SHARE_VALID_MS } from './promises.js';
import { NODES, type PlannedFault } from './schedule.js';

/** A fault as it was done. Times are milliseconds since the run began. */
export interface HappenedFault {
  readonly fault: PlannedFault;
  readonly round: number;
  /** When the first blow was dealt. */
  readonly fromMs: number;
  /** When the remedy began. */
  readonly remedyMs: number;
  /** When what was broken worked again, as far as anybody but the nodes can tell. */
  readonly doneMs: number;
  /** What there is to say about it. */
  readonly notes: readonly string[];
}

/** A node that may decide by another prefix of the log than the rest, or by none. */
export interface AloneSpan {
  readonly node: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** When it stopped hearing anything. */
  readonly deafSinceMs: number;
  readonly noticesAfterMs: number;
  /** True if it still hears, but late: its share may change, and is known only afterwards. */
  readonly hearsLate: boolean;
}

/**
 * The nodes that were alone, and when: from the first blow until the time that the documents give it to be back. What hits
 * everybody alike leaves nobody alone.
 */
export function aloneSpans(happened: readonly HappenedFault[]): AloneSpan[] {
  const topic = happened.filter(({ fault }) => FAULTS[fault.kind].scope === 'topic');
  return happened.flatMap((one) => {
    if (FAULTS[one.fault.kind].scope === 'alone') return [cutOff(one)];
    return one.fault.kind === 'node-freeze' ? wokenInto(one, topic) : [];
  });
}

function cutOff({ fault, fromMs, doneMs }: HappenedFault): AloneSpan {
  // Cut off from some partitions only, it hears of the others: silence is noticed by the partition's own signs of life.
  const rare = fault.kind === 'link-one-broker' || fault.kind === 'link-delay' ? PARTITION_HEARTBEAT_MS : 0;
  return {
    node: fault.node as number,
    fromMs,
    toMs: doneMs + BACK_WITHIN_MS,
    deafSinceMs: fromMs,
    noticesAfterMs: ISOLATION_AFTER_MS + rare,
    hearsLate: fault.kind === 'link-delay',
  };
}

/** A node that slept past the validity of its share, and wakes while the topic is away, has the exposure of one that is cut off (decision 0009). */
function wokenInto(frozen: HappenedFault, topic: readonly HappenedFault[]): AloneSpan[] {
  if (frozen.remedyMs - frozen.fromMs < SHARE_VALID_MS) return [];
  return topic
    .filter(
      ({ fromMs, doneMs }) => fromMs < frozen.remedyMs + BACK_WITHIN_MS && doneMs + BACK_WITHIN_MS > frozen.remedyMs,
    )
    .map(({ doneMs }) => ({
      node: frozen.fault.node as number,
      fromMs: frozen.remedyMs,
      toMs: doneMs + BACK_WITHIN_MS,
      deafSinceMs: frozen.fromMs,
      noticesAfterMs: ISOLATION_AFTER_MS,
      hearsLate: false,
    }));
}

/** When a node stood still, for calls that it can only have decided afterwards. */
export function frozenSpans(happened: readonly HappenedFault[], node: number): readonly (readonly [number, number])[] {
  return happened
    .filter(({ fault }) => fault.kind === 'node-freeze' && fault.node === node)
    .map(({ fromMs, remedyMs }) => [fromMs, remedyMs] as const);
}

/** Moments at which membership or the log changed for somebody: from then on who does not hear holds what the others may have been given. */
export function changesBeside(happened: readonly HappenedFault[], span: AloneSpan): number[] {
  return happened
    .filter(({ fault }) => fault.node !== span.node)
    .flatMap(({ fromMs, remedyMs, doneMs }) => [fromMs, remedyMs, doneMs])
    .sort((one, other) => one - other);
}

/** Nodes that a node which is cut off then may know of: those that are away by then may have left, or been expired. */
export function knownNodes(happened: readonly HappenedFault[], { node, fromMs }: AloneSpan): number {
  const away = happened.filter(({ fault, ...times }) => {
    const isProcess = FAULTS[fault.kind].scope === 'process' && fault.node !== node;
    return isProcess && times.fromMs <= fromMs && times.doneMs >= fromMs;
  });
  return NODES - away.length;
}

/** Whether nothing was wrong in a window nor shortly before it, and the traffic had not just begun. */
export function isQuiet(happened: readonly HappenedFault[], fromMs: number, toMs: number): boolean {
  return (
    fromMs >= BACK_WITHIN_MS && happened.every((one) => one.fromMs >= toMs || one.doneMs + BACK_WITHIN_MS <= fromMs)
  );
}

export function whom({ fault }: HappenedFault): string {
  const node = fault.node === null ? [] : [`n${(fault.node % NODES) + 1}`];
  // The broker of a move is the turn that it takes; its note names the brokers.
  const broker = fault.broker === null || fault.kind === 'leader-moved' ? [] : [`broker ${fault.broker + 1}`];
  return [...node, ...broker].join(', ');
}
