import type { z } from 'zod';
import { section } from '../setting/section.js';
import { GROUP_NAME } from '../setting/setting.js';

const LEVEL = { kind: 'level', default: null, required: true, min: 1e-9, max: 1e18 } as const;

/** A backend whose health is read from a Prometheus text endpoint; keys below `backends.<name>`. */
export const POLLED_BACKEND = section({
  url: {
    kind: 'text',
    default: null,
    required: true,
    remedy: 'Name the endpoint, e.g. `url: http://db-1:9100/metrics`.',
    missedBy: 'everybody',
    buys: 'Health without a line of code: one node of the cluster reads this address, another if that one dies.',
    costs: 'One request per everyMs; at most 4 MiB of an answer are read.',
  },
  metric: {
    kind: 'text',
    default: null,
    required: true,
    remedy: 'Name the sample, e.g. `metric: queue_bytes` or `metric: queue_bytes{shard="1"}`.',
    missedBy: 'everybody',
    buys: 'The level: queue length, utilisation. Labels in braces pick one of several samples.',
    costs: 'A metric that is missing, doubled or not a number counts as no answer.',
  },
  zone: {
    kind: 'name',
    default: null,
    defaultText: 'a zone of its own',
    pattern: GROUP_NAME,
    missedBy: 'replicas in zones (FoundationDB)',
    buys: 'Backends that fail together are left out together (limiting.zonesLeftOut).',
    costs: 'Nothing.',
  },
  target: {
    ...LEVEL,
    remedy: 'Name the level at which the backend does just what it can, e.g. `target: 800M`.',
    missedBy: 'everybody (FoundationDB)',
    buys: 'Longer queues, hence fuller use of the backend.',
    costs: 'Waiting time behind that queue.',
  },
  spring: {
    ...LEVEL,
    remedy: 'Name the way from the first throttling to the target, e.g. `spring: 200M`.',
    missedBy: 'everybody (FoundationDB)',
    buys: 'A gentler start: limiting begins at target − spring and halves the work at target + spring.',
    costs: 'A queue that swings further.',
  },
  everyMs: {
    kind: 'duration',
    default: 1000,
    min: 100,
    max: 600_000,
    missedBy: 'slow exporters',
    buys: 'Fewer requests.',
    costs: 'Saturation is seen later. Must be at most half of limiting.healthValidMs.',
  },
});
export type PolledBackendSettings = z.output<typeof POLLED_BACKEND>;
