import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ADMISSION_METRICS } from '../../../src/doors/telemetry/admission-metrics.js';
import { GROUP_METRICS } from '../../../src/doors/telemetry/group-metrics.js';
import { KAFKA_QUOTA_METRICS } from '../../../src/doors/telemetry/kafka-quota-metrics.js';
import type { MetricRow } from '../../../src/doors/telemetry/metric.js';
import * as tables from '../../../src/doors/telemetry/metric-table.js';
import { NODE_METRICS } from '../../../src/doors/telemetry/node-metrics.js';
import { httpScene, readyScene } from '../http/http-scene.js';

const TABLE: Readonly<Record<string, MetricRow>> = Object.assign(
  {},
  ...Object.values(tables),
  NODE_METRICS,
  ADMISSION_METRICS,
  KAFKA_QUOTA_METRICS,
  GROUP_METRICS,
);

describe('metrics', () => {
  it('are those of docs/reference/metrics.md, no more and no fewer, with the same type', async () => {
    const scene = await httpScene({ metrics: { perGroup: 'all' } });
    const exported = [...(await scene.metrics.text()).matchAll(/^# TYPE (quotamesh_\w+) (\w+)$/gm)];
    const documented = readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8');
    const rows = [...documented.matchAll(/^\| `(quotamesh_\w+)` \| (\w+) \|/gm)];
    const pairs = (matches: RegExpMatchArray[]) => matches.map(([, name, type]) => `${name} ${type}`).sort();
    // Metrics of the MQTT broker are exported beside one only (test/integration/mqtt-sessions.test.ts), those of
    // Kafka's quotas beside a keeper (test/unit/kafka-quotas/keeper-status.test.ts), those of Envoy's listener beside
    // it (test/unit/envoy/envoy-door.test.ts).
    expect(pairs(exported)).toEqual(pairs(rows).filter((pair) => !/^quotamesh_(mqtt|kafka|envoy)_/.test(pair)));
    expect(pairs(rows)).toEqual(
      Object.entries(TABLE)
        .map(([name, { type }]) => `${name} ${type}`)
        .sort(),
    );
    await scene.close();
  });

  it('follow the naming conventions', () => {
    for (const [name, { type, help }] of Object.entries(TABLE)) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name, name).not.toMatch(/_ms\b|_millis|_kb\b|_percent/);
      expect(help, name).toMatch(/\.$/);
    }
  });

  it('before the topic is open: not ready, and nothing is missing', async () => {
    const scene = await httpScene();
    const series = seriesOf(await scene.metrics.text());
    expect(series.get('quotamesh_ready')).toBe(0);
    expect(series.get('quotamesh_members{state="alive"}')).toBe(0);
    expect(series.get('quotamesh_share_sum_ratio')).toBe(0);
    // No group of strategy equal: no series, not 0, which would be an answer.
    expect([series.get('quotamesh_pool_size'), series.get('quotamesh_pool_agreed')]).toEqual([undefined, undefined]);
    const own = [...series].filter(([name]) => name.startsWith('quotamesh_'));
    expect(own.filter(([, value]) => !Number.isFinite(value))).toEqual([]);
    await scene.close();
  });

  it('tell what the node has done', async () => {
    const scene = await readyScene({ metrics: { perGroup: ['or*s'] } });
    await scene.acquire({ group: 'orders', messages: 2, bytes: 100 });
    await scene.acquire({ group: 'orders', direction: 'dispatch', messages: 1 });
    await scene.acquire({ group: 'blocked', messages: 3 });
    await scene.acquire({ group: 'nope', messages: 3 });
    const series = seriesOf(await scene.metrics.text());
    expect(Object.fromEntries(series)).toMatchObject({
      quotamesh_ready: 1,
      quotamesh_incarnation: 1,
      'quotamesh_members{state="alive"}': 1,
      'quotamesh_degraded{reason="isolated"}': 0,
      'quotamesh_lanes{link="linked"}': 3,
      quotamesh_share_sum_ratio: 1,
      'quotamesh_admitted_messages_total{direction="publish"}': 2,
      'quotamesh_admitted_messages_total{direction="dispatch"}': 1,
      'quotamesh_admitted_bytes_total{direction="publish"}': 100,
      'quotamesh_attempted_messages_total{direction="publish"}': 5,
      'quotamesh_refused_messages_total{direction="publish"}': 3,
      'quotamesh_refusals_total{direction="publish"}': 1,
      'quotamesh_http_acquires_total{outcome="granted"}': 2,
      'quotamesh_http_acquires_total{outcome="refused"}': 1,
      'quotamesh_http_acquires_total{outcome="rejected"}': 1,
      'quotamesh_http_acquires_total{outcome="not-ready"}': 0,
      'quotamesh_group_quota_messages_per_second{group="orders",direction="publish"}': 1000,
      'quotamesh_group_share_bytes_per_second{group="orders",direction="publish"}': 1_048_576,
      'quotamesh_group_admitted_messages_total{group="orders",direction="publish"}': 2,
    });
    expect(series.get('quotamesh_topic_records_appended_total')).toBeGreaterThan(0);
    expect(series.get('quotamesh_rounds_total')).toBeGreaterThan(0);
    // No quota, no series; and no series of groups that were not asked for.
    expect(series.has('quotamesh_group_quota_bytes_per_second{group="orders",direction="dispatch"}')).toBe(false);
    expect([...series.keys()].filter((name) => name.includes('blocked'))).toEqual([]);
    await scene.close();
  });

  it('tell who waits, who has waited, which level refused, and what is owed', async () => {
    const perClient = { publish: { messagesPerSecond: 1 } };
    const groups = {
      slow: { quota: { publish: { messagesPerSecond: 0 } } },
      owing: { quota: { publish: { messagesPerSecond: 10 } } },
      clients: { quota: { publish: { messagesPerSecond: 1000 } }, perClient },
    };
    const scene = await readyScene({ groups, metrics: { perGroup: 'all' } });
    const { node } = scene;
    const stop = new AbortController();
    const waiting = node.acquire('slow', { messages: 1 }, { waitMs: 60_000, signal: stop.signal });
    expect((await node.acquire('slow', { messages: 1 }, { waitMs: 20 })).granted).toBe(false);
    node.consume('owing', { messages: 300 });
    for (let time = 0; time < 3; time++) node.tryAcquire('clients', { messages: 1 }, { client: 'c' });
    const series = seriesOf(await scene.metrics.text());
    expect(Object.fromEntries(series)).toMatchObject({
      'quotamesh_held_back{direction="publish"}': 1,
      'quotamesh_held_back{direction="dispatch"}': 0,
      'quotamesh_group_held_back{group="slow",direction="publish"}': 1,
      'quotamesh_waits_total{outcome="granted"}': 0,
      'quotamesh_waits_total{outcome="otherwise"}': 1,
      'quotamesh_level_refusals_total{level="client"}': 2,
      'quotamesh_level_refusals_total{level="topic"}': 0,
    });
    expect(series.get('quotamesh_waited_seconds_total')).toBeGreaterThan(0.015);
    // 300, less what has accrued since the node is ready.
    const owed = series.get('quotamesh_group_debt_messages{group="owing",direction="publish"}')!;
    expect(owed).toBeGreaterThan(100);
    expect(owed).toBeLessThan(300);
    // Read a moment earlier or later: 10/s are paid back.
    const inSum = series.get('quotamesh_debt_messages{direction="publish"}')!;
    expect(Math.abs(inSum - owed)).toBeLessThan(50);
    expect(series.get('quotamesh_debt_bytes{direction="publish"}')).toBe(0);
    const { local } = node.groupStatus('slow').directions.publish;
    expect(local).toMatchObject({ heldBack: 1, debtMessages: 0 });
    expect(node.groupStatus('owing').directions.publish.local.debtMessages).toBeGreaterThan(100);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await scene.close();
  });

  it('count once, however often they are scraped', async () => {
    const scene = await readyScene();
    await scene.acquire({ group: 'blocked', messages: 3 });
    await scene.metrics.text();
    await scene.metrics.text();
    const series = seriesOf(await scene.metrics.text());
    expect(series.get('quotamesh_refused_messages_total{direction="publish"}')).toBe(3);
    await scene.close();
  });

  it('per group: none by default, all on request', async () => {
    const none = await httpScene();
    expect(
      [...seriesOf(await none.metrics.text()).keys()].filter((name) => name.startsWith('quotamesh_group_')),
    ).toEqual([]);
    await none.close();
    const all = await httpScene({ metrics: { perGroup: 'all' } });
    const groups = [...seriesOf(await all.metrics.text()).keys()].flatMap(
      (name) => /\{group="(\w+)"/.exec(name)?.[1] ?? [],
    );
    expect(new Set(groups)).toEqual(new Set(['orders', 'blocked', 'slow', 'free']));
    await all.close();
  });

  it('come with the process metrics and the content type of the text format', async () => {
    const scene = await httpScene();
    const response = await scene.app.inject({ method: 'GET', url: '/metrics' });
    expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.body).toMatch(/^process_cpu_seconds_total /m);
    expect(response.body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    await scene.close();
  });
});

/** `name{labels}` → value. */
function seriesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}
