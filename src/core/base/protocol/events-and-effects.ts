import type { GroupSettings } from '../settings.js';
import type { GroupId } from '../vocabulary.js';
import type { BackendHealth, TopicRecord } from './record.js';

/** `joining` until the own NODE record is read back, `stalled` from a long gap between rounds until the same. */
export type Phase = 'catching-up' | 'joining' | 'ready' | 'stalled' | 'stopping' | 'fenced';

/** Everything that can happen to a coordinator. Times are given to `step`; events carry none of this node's clock. */
export type CoordinatorEvent =
  | EpochBegan
  /** All that was in the topic at the start has been given in `records-read` events. */
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'records-read'; readonly records: readonly ReadEvent[] }
  /** The periodic call, every sampleIntervalMs: sample, report, heartbeat, isolation, confirmation of shares. */
  | { readonly kind: 'round-elapsed' }
  /** First use of a lane: the node serves it from now on. */
  | { readonly kind: 'lane-served'; readonly lane: number }
  /**
   * Notes that what was spent of a silent key has been charged to its lane: samples begin behind it. Counted as
   * arrivals of one instant it would pass for a rate of now.
   */
  | { readonly kind: 'unpublished-charged'; readonly lane: number }
  /**
   * These are the settings of a group (its quota, strategy, …) from now on; its name stays. The number after the last
   * one adds a group; the limiter must have rows for it by then.
   */
  | {
      readonly kind: 'group-changed';
      readonly group: number;
      readonly settings: GroupSettings;
      /** True = made by use: each node hears of a change when it uses the group. */
      readonly isKey?: boolean;
    }
  /**
   * The group is gone: its lanes are not served any more, and the next report tells the nodes that do not know it yet.
   * Its number is not given to another group; `group-changed` may bring it back.
   */
  | { readonly kind: 'group-removed'; readonly group: number }
  /** These keys may not be in the log: their bundles are published again. */
  | { readonly kind: 'append-failed'; readonly partition: number; readonly keys: readonly string[] }
  /** The health of a backend, as the traffic side or a poller tells it. */
  | {
      readonly kind: 'backend-reported';
      readonly backend: string;
      readonly zone: string;
      readonly health: BackendHealth;
    }
  | { readonly kind: 'stopping'; readonly unpublished?: readonly UnpublishedUse[] };

/** Carries what a node took of a silent key, for its last record. */
export interface UnpublishedUse {
  readonly groupId: GroupId;
  readonly direction: number;
  readonly units: readonly [messages: number, bytes: number];
  /** The cluster's buckets, units per second and units; null = nothing limits. */
  readonly buckets: readonly [messages: UnpublishedBucket | null, bytes: UnpublishedBucket | null];
}

export interface UnpublishedBucket {
  readonly perSecond: number;
  readonly depth: number;
}

/**
 * Another log is read from now on, from its start and with its own offsets; `caught-up` follows. The event of the first
 * log comes before all other events.
 */
export interface EpochBegan {
  readonly kind: 'epoch-began';
  readonly epoch: string;
  /** So many nodes had a log of their own each until now, this one included, and a part of every quota; default: 0. */
  readonly nodesApart?: number | undefined;
}

/** A record read from the log; `record` is null for a tombstone. What could not be decoded never gets here. */
export interface ReadEvent {
  readonly partition: number;
  readonly offset: number;
  readonly appendMs: number;
  readonly key: string;
  readonly record: TopicRecord | null;
}

export interface Append {
  readonly partition: number;
  readonly key: string;
  readonly record: TopicRecord | null;
}

/** A thing to tell people: one log line and one metric each. */
export type Notice =
  | { readonly kind: 'ready'; readonly members: number; readonly incarnation: number }
  | {
      readonly kind: 'member-joined' | 'member-left' | 'member-expired';
      readonly nodeId: string;
      readonly members: number;
    }
  | { readonly kind: 'isolated' | 'reconnected'; readonly partition: number; readonly silentMs: number }
  | { readonly kind: 'stalled'; readonly gapMs: number }
  | { readonly kind: 'resumed'; readonly afterMs: number }
  /** Told for the first refused node; further ones are only counted. nodeId null = the record does not name it. */
  | { readonly kind: 'nodes-refused'; readonly nodeId: string | null }
  /** The log was replaced: what was known from the old one is forgotten, and shares are held. */
  | { readonly kind: 'epoch-changed'; readonly from: string; readonly to: string; readonly members: number }
  /** Shares follow the new log from now on; `missing` = awaited nodes that have said nothing in it. */
  | { readonly kind: 'epoch-settled'; readonly afterMs: number; readonly missing: number }
  /**
   * Told for the first refused record, and again after a minute without any; others are only counted. nodeId null = the
   * name of the node is not known.
   */
  | {
      readonly kind: 'rows-refused';
      readonly cause: 'too-many-groups' | 'too-many-rows';
      readonly nodeId: string | null;
    }
  /** A node gives back more tokens than it may (core/account/returnable.ts); told as often as refused records are. */
  | { readonly kind: 'charge-refused'; readonly nodeId: string | null }
  /** A member works with fewer partitions than this node, so this node stops: a group would be in two partitions. */
  | { readonly kind: 'partitions-differ'; readonly nodeId: string; readonly founded: number; readonly own: number }
  /** Told for the first node that counts fewer partitions than this one, which has decided for long and goes on. */
  | { readonly kind: 'partitions-doubted'; readonly nodeId: string }
  /** Told for the first record whose time is left out (core/log/log-time.ts); others are only counted. */
  | { readonly kind: 'absurd-time'; readonly partition: number }
  | { readonly kind: 'fenced'; readonly ownIncarnation: number; readonly newerIncarnation: number };

export type RowsRefused = Extract<Notice, { readonly kind: 'rows-refused' }>;
/** Why a node has stopped deciding for good. */
export type Fenced = Extract<Notice, { readonly kind: 'fenced' | 'partitions-differ' }>;

export const IGNORED_CAUSES = [
  'old-incarnation',
  'repeated',
  'outdated',
  'repeated-offset',
  'foreign-key',
  'too-many-backends',
  'too-many-nodes',
  'too-many-groups',
  'too-many-rows',
  'too-many-levels',
  'charge-too-low',
  'charge-in-doubt',
  'partitions-doubted',
  'absurd-time',
] as const;
export type IgnoredCause = (typeof IGNORED_CAUSES)[number];

/** Work for the runtime to do now; the buffer is reused by the next step. */
export interface Effects {
  readonly appends: Append[];
  /** Lanes whose limits changed; read them from `coordinator.shares`. */
  readonly changedLanes: number[];
  /** The changed lanes, and those whose share moved while share + allowance stayed: what a decision log shows. */
  readonly decidedLanes: number[];
  /** Lanes whose buckets start empty now. */
  readonly emptiedLanes: number[];
  /** Lanes that are served from now on: their limits hold for shareValidMs, unless confirmed again with all others. */
  readonly servedLanes: number[];
  /** Lanes that are not served any more: their limits are void. */
  readonly unservedLanes: number[];
  /** Limits of all served lanes hold until then, unless confirmed again; null = no news. */
  confirmUntilMs: number | null;
  readonly notices: Notice[];
}

export function createEffects(): Effects {
  return {
    appends: [],
    changedLanes: [],
    decidedLanes: [],
    emptiedLanes: [],
    servedLanes: [],
    unservedLanes: [],
    confirmUntilMs: null,
    notices: [],
  };
}

export function clearEffects(effects: Effects): void {
  // Most steps have none of them, and emptying an empty array is a call into the engine: 6 % of a round.
  if (effects.appends.length > 0) effects.appends.length = 0;
  if (effects.changedLanes.length > 0) effects.changedLanes.length = 0;
  if (effects.decidedLanes.length > 0) effects.decidedLanes.length = 0;
  if (effects.emptiedLanes.length > 0) effects.emptiedLanes.length = 0;
  if (effects.servedLanes.length > 0) effects.servedLanes.length = 0;
  if (effects.unservedLanes.length > 0) effects.unservedLanes.length = 0;
  if (effects.notices.length > 0) effects.notices.length = 0;
  effects.confirmUntilMs = null;
}
