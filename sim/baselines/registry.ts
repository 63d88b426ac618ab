import type { Baseline } from './baseline.js';
import { DEMAND_PROPORTIONAL } from './demand-proportional.js';
import { FDB_CLIENT, FDB_PROXY } from './foundationdb/foundationdb.js';
import { FULL_QUOTA } from './full-quota.js';
import { NUMAFLOW } from './numaflow/numaflow.js';
import { pulsar, pulsarFork } from './pulsar/pulsar.js';
import { STATIC } from './static.js';

/**
 * The systems that quotamesh is compared with, by name. Pulsar at its default period of 60 s hardly moves within a
 * scenario of two minutes; the recipe of pulsar §1.6 also has 10 s, which favours it, as a column of its own.
 */
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
