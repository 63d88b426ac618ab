import { describe, expect, it } from 'vitest';
import { startEnvoy } from './envoy.js';
import { findEnvoy } from './envoy-package.js';

const isHere = (await findEnvoy()) !== null;
const TYPE = 'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';
const ALL = { default_value: { numerator: 100, denominator: 'HUNDRED' } };

/** Envoy's own limit: so many requests, and no more within the hour. */
function firstOnly(requests: number) {
  const bucket = { max_tokens: requests, tokens_per_fill: 1, fill_interval: '3600s' };
  const config = { stat_prefix: 'local', token_bucket: bucket, filter_enabled: ALL, filter_enforced: ALL };
  return { name: 'envoy.filters.http.local_ratelimit', typed_config: { '@type': TYPE, ...config } };
}

describe.runIf(isHere)('an Envoy of the tests', () => {
  it('is in front of a backend with the filters that it was given, until it is killed', async ({ onTestFinished }) => {
    const envoy = await startEnvoy({ filters: [firstOnly(3)], nodes: [] });
    onTestFinished(() => envoy.stop());
    const codes: number[] = [];
    for (let request = 0; request < 5; request++) codes.push((await fetch(envoy.url)).status);
    expect(codes).toEqual([200, 200, 200, 429, 429]);
    expect(await envoy.stat('http.front.downstream_rq_2xx')).toBe(3);
    await envoy.kill();
    await expect(fetch(envoy.url)).rejects.toThrow();
  });
});
