import { z } from 'zod';
import type { EnvoyDoor } from './envoy-door.js';

const count = z.int().min(0);
const counts = z.record(z.string(), count);

/** Answer of `GET /v1/envoy`; counts since the start. */
export const ENVOY_STATUS = z
  .strictObject({
    url: z.string(),
    connections: count,
    openCalls: count.meta({ description: 'The number of calls that are not over, streams among them.' }),
    heldBytes: count.meta({ description: 'The bytes of requests that have not arrived as a whole.' }),
    failed: counts.meta({ description: 'The number of calls that failed, by the code of their error.' }),
    ended: counts.meta({ description: 'The number of connections that were ended or lost, by reason.' }),
    quota: z
      .strictObject({
        streams: count.meta({
          description: 'The number of Envoys that enforce by themselves now; each domain is one.',
        }),
        buckets: count.meta({ description: 'The number of their buckets.' }),
        reports: count,
        assignments: count.meta({ description: 'The number of shares told and of buckets abandoned.' }),
        refused: counts.meta({
          description: 'The number of buckets in their last reports that are told nothing, by reason.',
        }),
      })
      .meta({ description: 'The rate limit quota service (docs/guide/envoy-quotas.md).' }),
  })
  .readonly();
export type EnvoyStatus = z.infer<typeof ENVOY_STATUS>;

export function envoyStatus({ listener, quota }: EnvoyDoor): EnvoyStatus {
  const { url, connections, openCalls, counts } = listener;
  const { heldBytes, failed, ended } = counts;
  return { url, connections, openCalls, heldBytes, failed, ended, quota: quota.status };
}
