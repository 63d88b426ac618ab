import type { Limit } from '../contender.js';

/** The configuration of both quotamesh rows: the defaults, beside quota and burst. */
export function configOf({ key, perSecond, burst }: Limit, redisPort: number): Readonly<Record<string, unknown>> {
  return {
    cluster: 'race',
    topic: { kind: 'redis', addresses: [`127.0.0.1:${redisPort}`], prefix: 'race' },
    groups: { [key]: { quota: { publish: { messagesPerSecond: perSecond } }, burst } },
  };
}

export function burstOf({ burst }: Limit): string {
  return `one bucket of ${burst} for all nodes`;
}

export function atOnce({ burst }: Limit): number {
  return burst;
}
