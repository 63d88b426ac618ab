import type { GroupSettings } from '../settings.js';
import type { GroupId } from '../vocabulary.js';
import type { BackendHealth, TopicRecord } from './record.js';

/** `joining` until own records are read back; `stalled` after a long gap between rounds. */
export type Phase = 'catching-up' | 'joining' | 'ready' | 'stalled' | 'stopping' | 'fenced';

/** Events of a coordinator. They carry no time of this node's clock, which `step` is given. */
export type CoordinatorEvent =
  | EpochBegan
  /** All records of the topic at the start have been read. */
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'records-read'; readonly records: readonly ReadEvent[] }
  /** The periodic call, every `sampleIntervalMs`: sample, report, heartbeat, isolation, confirmation of shares. */
  | { readonly kind: 'round-elapsed' }
  /** First use of a lane, which the node then serves. */
  | { readonly kind: 'lane-served'; readonly lane: number }
  /**
   * The use of a silent key has been charged to its lane. Samples begin after the charge, which would otherwise count
   * as arrivals of one instant.
   */
  | { readonly kind: 'unpublished-charged'; readonly lane: number }
  /**
   * New settings of a group (its quota, strategy, …); its name stays. The number after the last one adds a group; the
   * limiter must have rows for it by then.
   */
  | {
      readonly kind: 'group-changed';
      readonly group: number;
      readonly settings: GroupSettings;
      /** True = made by use: each node takes a change over when it uses the group. */
      readonly isKey?: boolean;
    }
  /**
   * The end of a group. Its lanes end, and the next report shows that to other nodes. Its number is not given to
   * another group; `group-changed` may bring it back.
   */
  | { readonly kind: 'group-removed'; readonly group: number }
  /** Keys that the log may lack: their bundles are published again. */
  | { readonly kind: 'append-failed'; readonly partition: number; readonly keys: readonly string[] }
  /** The health of a backend, from the traffic side or a poller. */
  | {
      readonly kind: 'backend-reported';
      readonly backend: string;
      readonly zone: string;
      readonly health: BackendHealth;
    }
  | { readonly kind: 'stopping'; readonly unpublished?: readonly UnpublishedUse[] };

/** Unpublished use of a silent key, for its last record. */
export interface UnpublishedUse {
  readonly groupId: GroupId;
  readonly direction: number;
  readonly units: readonly [messages: number, bytes: number];
  /** Buckets of the cluster, units per second and units; null = no limit. */
  readonly buckets: readonly [messages: UnpublishedBucket | null, bytes: UnpublishedBucket | null];
}

export interface UnpublishedBucket {
  readonly perSecond: number;
  readonly depth: number;
}

/**
 * Begins another log, from its start and with its own offsets. `caught-up` follows. The first log's event comes before
 * all other events.
 */
export interface EpochBegan {
  readonly kind: 'epoch-began';
  readonly epoch: string;
  /** Nodes that had a log each until now, this one included. Each had a part of every quota; default: 0. */
  readonly nodesApart?: number | undefined;
}

/** A record read from the log; null = tombstone. Undecodable records are left out. */
export interface ReadEvent {
  readonly partition: number;
  readonly offset: number;
  readonly appendMs: number;
  readonly key: string;
  readonly record: TopicRecord | null;
}

export type Append = Pick<ReadEvent, 'partition' | 'key' | 'record'>;

/** News for people: one log line and one metric each. */
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
  /** Only for the first refused node; `nodeId` null = the record does not name it. */
  | { readonly kind: 'nodes-refused'; readonly nodeId: string | null }
  /** The log was replaced: the old one is forgotten, and shares are held. */
  | { readonly kind: 'epoch-changed'; readonly from: string; readonly to: string; readonly members: number }
  /** Shares follow the new log; `missing` counts the awaited nodes without a record in it. */
  | { readonly kind: 'epoch-settled'; readonly afterMs: number; readonly missing: number }
  /** Only for the first refused record after a minute without one; `nodeId` null = not known. */
  | {
      readonly kind: 'rows-refused';
      readonly cause: 'too-many-groups' | 'too-many-rows';
      readonly nodeId: string | null;
    }
  /** A node gives back more tokens than it may (core/account/returnable.ts). As often as refused records. */
  | { readonly kind: 'charge-refused'; readonly nodeId: string | null }
  /** A member counts fewer partitions, so this node stops: a group would be on two partitions. */
  | { readonly kind: 'partitions-differ'; readonly nodeId: string; readonly founded: number; readonly own: number }
  /** Only for the first doubted count of partitions: this node has decided for long and goes on. */
  | { readonly kind: 'partitions-doubted'; readonly nodeId: string }
  /** Only for the first record whose time is left out (core/log/log-time.ts). */
  | { readonly kind: 'absurd-time'; readonly partition: number }
  | { readonly kind: 'fenced'; readonly ownIncarnation: number; readonly newerIncarnation: number };

export type RowsRefused = Extract<Notice, { readonly kind: 'rows-refused' }>;
/** The reason for which a node has stopped deciding for good. */
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

/** Work for the runtime. The next step reuses the buffer. */
export interface Effects {
  readonly appends: Append[];
  /** Lanes whose limits changed. */
  readonly changedLanes: number[];
  /** Lanes whose share was decided anew, as a decision log shows them. */
  readonly decidedLanes: number[];
  /** Lanes whose buckets start empty now. */
  readonly emptiedLanes: number[];
  /** Lanes served from now on. Their limits hold for `shareValidMs`, or as long as all are confirmed. */
  readonly servedLanes: number[];
  /** Lanes that are no longer served: their limits are void. */
  readonly unservedLanes: number[];
  /** Time until which the limits of all served lanes hold; null = no news. */
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
  // Most steps have none of them, and emptying an empty array is a call into the engine.
  if (effects.appends.length > 0) effects.appends.length = 0;
  if (effects.changedLanes.length > 0) effects.changedLanes.length = 0;
  if (effects.decidedLanes.length > 0) effects.decidedLanes.length = 0;
  if (effects.emptiedLanes.length > 0) effects.emptiedLanes.length = 0;
  if (effects.servedLanes.length > 0) effects.servedLanes.length = 0;
  if (effects.unservedLanes.length > 0) effects.unservedLanes.length = 0;
  if (effects.notices.length > 0) effects.notices.length = 0;
  effects.confirmUntilMs = null;
}
