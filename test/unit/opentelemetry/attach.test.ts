import { context, trace } from '@opentelemetry/api';
import { describe, expect, onTestFinished, test } from 'vitest';
import { attachTo } from '../../../src/doors/opentelemetry/attach-to.js';
import { RefusalExemplars } from '../../../src/doors/telemetry/metrics.js';
import { type HttpScene, httpScene, readyScene } from '../http/http-scene.js';
import { forgetSdk, sdkScene } from './sdk-scene.js';

describe('metrics', () => {
  test('have the names, labels and values of /metrics where an exporter for Prometheus tells them', async () => {
    const sdk = sdkScene();
    const scene = await ready({ metrics: { perGroup: ['orders'] } });
    attachTo({ node: scene.node });
    await scene.acquire({ group: 'orders', messages: 2, bytes: 100 });
    await scene.acquire({ group: 'blocked', messages: 3 });
    const [told, scraped] = [await sdk.scrape(), await scene.metrics.text()];
    const ours = seriesOf(scraped).filter(([name]) => !/^quotamesh_(auth|http|unhandled)/.test(name));
    const theirs = new Map(
      seriesOf(
        told
          .replace(/,?(otel_scope_\w+|quotamesh_node)="[^"]*"/g, '')
          .replace(/\{,/g, '{')
          .replace(/\{\}/g, ''),
      ),
    );
    const named = ours.map(([name]) => name.replace(/\{.*/, ''));
    const arrived = new Set([...theirs.keys()].map((name) => name.replace(/\{.*/, '')));
    expect([...new Set(named)].filter((name) => !arrived.has(name))).toEqual([]);
    for (const name of [
      'quotamesh_ready',
      'quotamesh_admitted_messages_total{direction="publish"}',
      'quotamesh_refusals_total{direction="publish"}',
      'quotamesh_group_quota_messages_per_second{group="orders",direction="publish"}',
      'quotamesh_group_admitted_messages_total{group="orders",direction="publish"}',
    ]) {
      expect([name, theirs.get(name)]).toEqual([name, new Map(ours).get(name)]);
    }
    expect(theirs.get('quotamesh_admitted_messages_total{direction="publish"}')).toBe(2);
  });
});

describe('a refusal', () => {
  test('is an event of the span that is active where it was asked', async () => {
    const sdk = sdkScene();
    const { node } = await attached();
    trace.getTracer('test').startActiveSpan('GET /orders', (span) => {
      node.gate.tryAcquire('orders', { messages: 1 });
      node.gate.tryAcquire('blocked', { messages: 3 });
      span.end();
    });
    const [span] = sdk.spans();
    expect(span?.events).toMatchObject([
      {
        name: 'quotamesh.refused',
        attributes: {
          'quotamesh.group': 'blocked',
          'quotamesh.direction': 'publish',
          'quotamesh.messages': 3,
          'quotamesh.reason': 'quota',
          'quotamesh.level': 'group',
          'quotamesh.dimension': 'messages',
          'quotamesh.retry_after_ms': expect.any(Number),
        },
      },
    ]);
    expect(await sdk.scrape()).toMatch(/^quotamesh_requests_refused_total\{[^}]*quotamesh_reason="quota"[^}]*\} 1$/m);
  });

  test('is the exemplar of /metrics: the trace that was refused last, if it is recorded', async () => {
    const sdk = sdkScene();
    const { node } = await ready();
    const exemplars = new RefusalExemplars();
    attachTo({ node, exemplars });
    expect(exemplars.isFed).toBe(true);
    const refused = (name: string, group: string) =>
      trace.getTracer('test').startActiveSpan(name, (span) => {
        node.gate.tryAcquire(group, { messages: 3 });
        span.end();
        return span.spanContext();
      });
    refused('first', 'blocked');
    const beganMs = Date.now();
    const { traceId, spanId } = refused('last', 'blocked');
    refused('granted', 'orders');
    node.gate.tryAcquire('blocked', { messages: 3 });
    expect(exemplars.of('publish')).toEqual({ traceId, spanId, atMs: expect.any(Number) });
    expect(exemplars.of('publish')?.atMs).toBeGreaterThanOrEqual(beganMs);
    expect(exemplars.of('dispatch')).toBeUndefined();
    expect(sdk.spans().map((span) => span.spanContext().spanId)).toContain(spanId);
    const unrecorded = trace.wrapSpanContext({ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), traceFlags: 0 });
    context.with(trace.setSpan(context.active(), unrecorded), () => node.gate.tryAcquire('blocked', { messages: 3 }));
    expect(exemplars.of('publish')?.spanId).toBe(spanId);
  });

  test('that ends a wait is an exemplar by the span of the wait', async () => {
    const sdk = sdkScene();
    const { node } = await ready();
    const exemplars = new RefusalExemplars();
    attachTo({ node, exemplars });
    await node.gate.acquire('blocked', { messages: 3 }, { waitMs: 20 });
    const [wait] = sdk.spans();
    expect(wait?.name).toBe('quotamesh.wait');
    expect(exemplars.of('publish')?.spanId).toBe(wait?.spanContext().spanId);
  });

  test('without a span, and of a node that is not ready, is counted', async () => {
    const sdk = sdkScene();
    const scene = await closing(await httpScene());
    attachTo({ node: scene.node });
    expect(scene.node.gate.tryAcquire('orders', { messages: 1 }).granted).toBe(false);
    expect(sdk.spans()).toEqual([]);
    expect(await sdk.scrape()).toMatch(/^quotamesh_requests_refused_total\{[^}]*"not-ready"[^}]*\} 1$/m);
  });

  test('names no group in a series, so that keys make none', async () => {
    const sdk = sdkScene();
    const { node } = await attached();
    node.gate.tryAcquire('blocked', { messages: 3 });
    expect(await sdk.scrape()).not.toMatch(/^quotamesh_requests_refused_total\{[^}]*blocked/m);
  });
});

describe('a wait', () => {
  test('is a span below the one that is active where it began, with its outcome and time', async () => {
    const sdk = sdkScene();
    const { node } = await attached();
    let parent = '';
    const [refused, granted] = await trace.getTracer('test').startActiveSpan('job', async (span) => {
      parent = span.spanContext().spanId;
      const never = node.gate.acquire('blocked', { messages: 3 }, { waitMs: 20 });
      // 1 MiB of bytes are asked of a bucket that fills with 1 MiB a second.
      node.gate.consume('orders', { bytes: 1_200_000 });
      const soon = node.gate.acquire('orders', { bytes: 1000 }, { waitMs: 20_000 });
      const both = await Promise.all([never, soon]);
      span.end();
      return both;
    });
    expect([refused.granted, granted.granted]).toEqual([false, true]);
    const waits = sdk.spans().filter(({ name }) => name === 'quotamesh.wait');
    const of = (group: string) => waits.find(({ attributes }) => attributes['quotamesh.group'] === group);
    expect(waits.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([parent, parent]);
    expect(of('blocked')?.attributes['quotamesh.outcome']).toBe('refused');
    expect(of('blocked')?.events.map(({ name }) => name)).toEqual(['quotamesh.refused']);
    expect(of('orders')?.attributes['quotamesh.outcome']).toBe('granted');
    expect(of('orders')?.events).toEqual([]);
    const text = await sdk.scrape();
    expect(text).toMatch(/^quotamesh_wait_seconds_count\{[^}]*"granted"[^}]*\} 1$/m);
    expect(text).toMatch(/^quotamesh_wait_seconds_count\{[^}]*"refused"[^}]*\} 1$/m);
    // It has lasted 20 ms: the boundaries are of seconds.
    expect(text).toMatch(/^quotamesh_wait_seconds_bucket\{[^}]*"refused"[^}]*le="0.01"\} 0$/m);
    expect(text).toMatch(/^quotamesh_wait_seconds_bucket\{[^}]*"refused"[^}]*le="10"\} 1$/m);
    // While it waited, the line has asked the limiter several times: that was no refusal.
    expect(text).toMatch(/^quotamesh_requests_refused_total\{[^}]*\} 1$/m);
  });

  test('that is given up ends its span, too', async () => {
    const sdk = sdkScene();
    const { node } = await attached();
    const giveUp = new AbortController();
    const wait = node.gate.acquire('blocked', { messages: 3 }, { waitMs: 20_000, signal: giveUp.signal });
    giveUp.abort();
    await expect(wait).rejects.toThrow();
    expect(sdk.spans().map(({ attributes }) => attributes['quotamesh.outcome'])).toEqual(['given-up']);
  });
});

describe('attaching', () => {
  test('without an SDK attaches nothing', async () => {
    const scene = await ready();
    expect(attachTo({ node: scene.node })).toMatchObject({ metrics: false, spans: false });
    expect(scene.node.gate.watch).toBeNull();
  });

  test('ends with the node, or when told', async () => {
    const sdk = sdkScene();
    const [one, other] = [await attached({ node: 'a' }), await attached({ node: 'b' })];
    await one.node.close();
    expect(one.node.gate.watch).toBeNull();
    expect(other.node.gate.watch).not.toBeNull();
    // An SDK goes on telling what it saw last of an instrument.
    const admitted = async () =>
      /^quotamesh_admitted_messages_total\{direction="publish",quotamesh_node="b".* (\d+)$/m.exec(
        await sdk.scrape(),
      )?.[1];
    other.node.gate.tryAcquire('orders', { messages: 1 });
    expect(await admitted()).toBe('1');
    other.detach();
    other.detach();
    other.node.gate.tryAcquire('orders', { messages: 1 });
    expect(await admitted()).toBe('1');
  });

  test('two nodes of a process have series of their own', async () => {
    const sdk = sdkScene();
    await attached({ node: 'a' });
    await attached({ node: 'b' });
    const text = await sdk.scrape();
    for (const node of ['a', 'b'])
      expect(text).toMatch(new RegExp(`^quotamesh_ready\\{[^}]*"${node}"[^}]*\\} 1$`, 'm'));
  });

  test('is refused where the SDK was registered with interfaces that are too old', async () => {
    const scene = await ready();
    const place = Symbol.for('opentelemetry.js.api.1');
    onTestFinished(() => Reflect.deleteProperty(globalThis, place) as unknown as undefined);
    Reflect.set(globalThis, place, { version: '1.2.0' });
    expect(() => attachTo({ node: scene.node })).toThrow(
      expect.objectContaining({ code: 'OPENTELEMETRY_TOO_OLD', message: expect.stringContaining('1.2.0') }),
    );
  });

  test('an SDK that throws ends no decision', async () => {
    sdkScene();
    const { node } = await attached();
    trace.getTracer('test').startActiveSpan('GET /orders', (span) => {
      span.addEvent = () => {
        throw new Error('exporter is broken');
      };
      expect(node.gate.tryAcquire('blocked', { messages: 3 })).toMatchObject({ granted: false, reason: 'quota' });
    });
  });
});

async function attached(overrides: Readonly<Record<string, unknown>> = {}) {
  const { node } = await ready(overrides);
  return { node, ...attachTo({ node }) };
}

async function ready(overrides: Readonly<Record<string, unknown>> = {}): Promise<HttpScene> {
  return closing(await readyScene(overrides));
}

async function closing(scene: HttpScene): Promise<HttpScene> {
  onTestFinished(async () => {
    await scene.close();
    forgetSdk();
  });
  return scene;
}

function seriesOf(text: string): readonly (readonly [string, number])[] {
  return [...text.matchAll(/^(quotamesh_\S+) (\S+)/gm)].map(([, name, value]) => [name, Number(value)]);
}
