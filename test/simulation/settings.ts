import type { CoordinatorSettings, GroupSettings, RampSettings } from '../../src/core/base/settings.js';

const NO_COST_QUOTA = { total: Infinity, reserved: 0 };

/** The defaults of src/config/schema/all-settings.ts, as the core takes them. */
export const GROUP: GroupSettings = {
  name: 'orders',
  quota: { publish: [1000, Infinity], dispatch: [Infinity, Infinity] },
  cost: { publish: NO_COST_QUOTA, dispatch: NO_COST_QUOTA },
  expectedCost: 1,
  ramp: null,
  nodeCount: 0,
  strategy: 'max-min',
  floorRatio: 0.001,
  burst: { messages: null, bytes: null, policy: 'optimistic' },
  debtMs: 60_000,
  weights: {},
  headroom: 'by-weight',
  smoothingMs: 0,
  slewPerSecond: Infinity,
  minShareRatio: 0,
  maxShareRatio: 1,
  limiter: 'bucket',
  windowMs: 1000,
  topics: 'shared',
  isolation: { policy: 'equal-share', holdMs: 10_000 },
};

/** Each node limits its own share, and the cluster has no bucket. */
export const GATED: GroupSettings = { ...GROUP, topics: 'even' };

export const RAMP: RampSettings = {
  mode: 'relaxed',
  fromPerSecond: 100,
  toPerSecond: 1000,
  overMs: 10_000,
  thresholdRatio: 0.5,
  coolDownMs: 5000,
  pausePenaltyRatio: 0.5,
  timeToLiveMs: 30_000,
};

export const SETTINGS: Omit<CoordinatorSettings, 'nodeId' | 'nonce'> = {
  cluster: 'demo',
  version: 'test',
  partitions: 1,
  heartbeatMs: 1000,
  partitionHeartbeatMs: 5000,
  stalenessMs: 5000,
  reportGapMs: 50,
  maxReportsPerSecond: 2000,
  forcedReportMs: 300_000,
  significantChangeRatio: 0.1,
  noiseFactor: 5,
  sampleIntervalMs: 20,
  fastSpanMs: 50,
  slowSpanMs: 5000,
  isolationAfterMs: 3000,
  shareValidMs: 4000,
  forgetAfterMs: 600_000,
  groupsPerRecord: 6,
  limiting: {
    mode: 'enforce',
    split: 'by-usage',
    zonesLeftOut: 1,
    contributionRatio: 0.01,
    healthValidMs: 10_000,
    levelSmoothingMs: 1000,
    maxBackends: 256,
  },
  costs: { smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 10_000, sampleUnits: 0 },
  groups: [GROUP],
};
