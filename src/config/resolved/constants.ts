import type { NodeSettings } from '../schema/all-settings.js';
import { TOPIC_CONSTANTS } from '../schema/topic-kinds.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;

/** Holds what nobody has to set: each with what a larger one does. Tests hand others to resolveConfig. */
export const CONSTANTS = {
  auth: {
    /** More wrong tokens of one address (of IPv6: /64) within a minute: more log and more guesses. */
    failuresPerMinute: 30,
  },
  http: {
    /** Larger bodies, in the hands of clients. An acquire needs about 100 bytes; bulks and changes take more. */
    bodyLimitBytes: 16 * KIB,
    /** More requests of a connection before the first is answered: some 3 KB each of `maxHeldBytes`. */
    maxPipelined: 32,
    /** More memory for waiting requests and answers, of all connections. */
    maxHeldBytes: 64 * MIB,
    /** More patience with a client that takes no answer: it stays in memory. */
    notReadingMs: 30_000,
  },
  mqtt: {
    /** More memory for input that may not go on, and unread output. It is of all connections. */
    maxHeldBytes: 64 * MIB,
    /** A publisher gets further ahead of slow deliveries. */
    maxPendingPublishes: 1000,
    /** More memory for publishes that are admitted and not delivered. It is of all connections. */
    maxPendingBytes: 64 * MIB,
    /** More messages wait for one subscriber, and are that much older; at twice as many it is cut off. */
    maxQueuedMessages: 1000,
    /** More of `maxHeldBytes` for one subscriber's messages before it is cut off. */
    maxQueuedBytes: 8 * MIB,
    /** More patience with a subscriber that takes nothing: publishers of QoS 1 and 2 wait as long. */
    notReadingMs: 10_000,
    /** More memory for what all sessions hold: payloads, topics, and 256 bytes per message and session. */
    maxSessionBytes: 64 * MIB,
    /** More subscriptions, some 500 bytes each beside the filter; one is counted once more for each 256 bytes of it. */
    maxSubscriptions: 1_000_000,
    /** More filters in one packet: each holds all other clients up for some 25 µs. */
    maxFiltersPerPacket: 1000,
    /** More topics with a retained message: each SUBSCRIBE looks at all of them. */
    maxRetainedMessages: 100_000,
    /** More memory for retained messages: payloads, topics, and 256 bytes each. */
    maxRetainedBytes: 64 * MIB,
  },
  envoy: {
    /** More connections of gateways: Envoy opens one per worker. */
    maxConnections: 10_000,
    /** More requests of a connection at once, some 4 KB each. */
    maxStreams: 1000,
    /** Larger fields of metadata, in the hands of clients: a token needs some hundred bytes. */
    maxMetadataBytes: 16 * KIB,
    /** Larger requests of one call. A descriptor of three entries needs about 100 bytes. */
    maxRequestBytes: 64 * KIB,
    /** More descriptors of one request: each is a decision. */
    maxDescriptors: 100,
    /** More memory for unfinished requests; as much for what one stream has not taken. */
    maxHeldBytes: 64 * MIB,
    /** More patience with unfinished requests that name no deadline. */
    arrivalMs: 10_000,
    /** A vanished peer is noticed later: a ping without an answer for so long ends the connection. */
    pingEveryMs: 30_000,
  },
  kafkaQuotas: {
    /** More patience with a slow keeper: nobody moves the quotas for so long after the writing one has died. */
    aliveMs: 5000,
    /** For so long a broker with a silent exporter keeps its readings. */
    holdMs: 10_000,
    /** More patience with a slow exporter: the next look at all brokers waits for it. */
    timeoutMs: 1000,
    /** Larger pages, at 5 ms of CPU per MB and second. */
    maxPageBytes: 64 * MIB,
    /** More entities of patterns like "{id}": one record and one quota in Kafka each. A node has no more groups. */
    maxEntities: 10_000,
  },
  limits: {
    /** Deeper buckets of the node's own limits: higher peaks on what they protect. */
    burstMs: 100,
    /** More node ids, 500 bytes each. All nodes must agree, or they compute different shares. */
    maxNodes: 10_000,
    /** More groups of one node, six rows each at all others. All nodes must agree. */
    maxGroupsPerNode: 10_000,
    /** More rows of the usage map: 50 bytes each when used, 120 at most. All nodes must agree. */
    maxRows: 6_000_000,
  },
  timing: {
    /** More reports: every node reads those of all. 9,000 groups short of their quotas need as many. */
    maxReportsPerSecond: 2000,
    /** Less traffic from unchanged groups; a lost report is repaired later. */
    forcedReportMs: 5 * MINUTE_MS,
    /** Fewer reports, and figures off by this part of the last (PIP-82). */
    significantChangeRatio: 0.1,
    /** Steadier figures while demand is steady; slow drifts are followed with half this delay. */
    slowSpanMs: 5000,
    /** Fewer keys, and more groups written again for one that changed: of 100 nodes × 5,000 groups 4 to 8 are best. */
    groupsPerRecord: 6,
  },
  limiting: {
    /** A backend with a smaller part of a group's cost limits nothing. */
    contributionRatio: 0.01,
    /** For so much log time a health holds: more patience with a late sensor. */
    healthValidMs: 10_000,
    /** Steadier levels: single pieces of work do not swing the targets, and a jump is seen later. */
    levelSmoothingMs: 1000,
    /** More backends whose health is kept, half a KB each. Made-up ones cannot fill a node. */
    maxBackends: 10_000,
  },
  costs: {
    /** Steadier averages of costs, later after a change. */
    smoothingMs: 10_000,
    /** Costs of a group that reports none are kept as long. */
    forgetAfterMs: 4 * MINUTE_MS,
    /** More groups and directions whose costs are kept. */
    maxLanes: 10_000,
    /** A unit of cost reads, or writes, so much: a larger page admits more bytes in the same quota. */
    readPageBytes: 4096,
    writePageBytes: 4096,
    /** Each page written costs as much as more pages read. */
    writeFactor: 4,
  },
  registry: {
    /** More scopes that were attached at run time. */
    maxAttachments: 100_000,
    /** More changes through one node; ten seconds' worth at once. */
    changesPerSecond: 2000,
    /** More changes in the trail, kept by every node; older ones stand in the log of the node that was asked. */
    auditedChanges: 10_000,
  },
  keys: {
    /** More keys with a group of their own at one node: 5 KB each. */
    maxLoud: 100_000,
    /** More different limits that came with requests (allowLimits), 5 KB each. */
    maxLimits: 1000,
  },
  ramp: {
    /** go-back-n: longer pauses cost no height, and what the quota protects may have gone cold. */
    coolDownMs: 5000,
    /** go-back-n: each second of a longer pause takes away this part of what a second adds. */
    pausePenaltyRatio: 0.5,
    /** For so long a pausing group finds the ceiling that it reached. */
    timeToLiveMs: 3 * MINUTE_MS,
  },
  backends: {
    /** More patience with an endpoint that is slow: the next request waits for this one. */
    timeoutMs: 1000,
  },
  ...TOPIC_CONSTANTS,
};
export type Constants = { readonly [Section in keyof typeof CONSTANTS]: Readonly<(typeof CONSTANTS)[Section]> };

/** Replaces constants in tests, section by section. */
export type OtherConstants = {
  readonly [Section in keyof Constants]?: Partial<
    Constants[Section] & (Section extends 'timing' ? DerivedTiming : unknown)
  >;
};

/** Derives the times that follow from others. */
export function derivedTiming({ stalenessMs, heartbeatMs }: TimesGiven, sampleIntervalMs: number) {
  return {
    /** Steadier figures when demand jumps, later: over fewer than two samples a rate would be mostly noise. */
    fastSpanMs: 2.5 * sampleIntervalMs,
    /** Patience with a slow topic: one late echo is no isolation, and the others do not take the share before. */
    isolationAfterMs: Math.max(0.6 * stalenessMs, 2 * heartbeatMs),
    /** Less often than there is news of members: 100 nodes × 16 partitions each second would be 8 MB a minute. */
    partitionHeartbeatMs: Math.max(5000, heartbeatMs),
    /** Shorter than `stalenessMs`: who slept must not go on admitting after the others have taken its share. */
    shareValidMs: 0.8 * stalenessMs,
    /** Records of a node that is only slow are kept. */
    forgetAfterMs: Math.max(10 * MINUTE_MS, 2 * stalenessMs),
  };
}

export type DerivedTiming = Readonly<ReturnType<typeof derivedTiming>>;

type TimesGiven = Pick<NodeSettings['timing'], 'stalenessMs' | 'heartbeatMs'>;
