import type { Baseline } from './baselines/baseline.js';
import { DEMAND_PROPORTIONAL } from './baselines/demand-proportional.js';
import { FDB_CLIENT, FDB_PROXY } from './baselines/foundationdb/foundationdb.js';
import { NUMAFLOW } from './baselines/numaflow/numaflow.js';
import { pulsar, pulsarFork } from './baselines/pulsar/pulsar.js';
import { FULL_QUOTA, STATIC } from './baselines/uncoordinated.js';

/** Systems to compare, by name; Pulsar also at 10 s, which favours it. */
export const BASELINES: Readonly<Record<string, Baseline>> = Object.fromEntries(
  [
    pulsar('pulsar'),
    pulsar('pulsar-10s', 10),
    pulsarFork('pulsar-fork'),
    pulsarFork('pulsar-fork-10s', 10),
    FDB_CLIENT,
    FDB_PROXY,
    NUMAFLOW,
    STATIC,
    DEMAND_PROPORTIONAL,
    FULL_QUOTA,
  ].map((baseline) => [baseline.name, baseline]),
);
