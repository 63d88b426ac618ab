import { describe, expect, onTestFinished, test } from 'vitest';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import {
  createMetrics,
  OPEN_METRICS_TYPE,
  prefersOpenMetrics,
  RefusalExemplars,
} from '../../../src/doors/telemetry/metrics.js';
import { readyScene } from '../http/http-scene.js';

/** What Prometheus 3 sends, shortened, and what it sends where `scrape_protocols` begin with the text format. */
const PROMETHEUS = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
const TEXT_FIRST = 'text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5';

test.each([
  [PROMETHEUS, true],
  ['application/openmetrics-text', true],
  [TEXT_FIRST, false],
  ['application/openmetrics-text;q=0', false],
  ['text/plain', false],
  ['*/*', false],
  ['application/openmetrics-text;q=nonsense', false],
  [undefined, false],
])('Accept: %s → OpenMetrics: %s', (accept, isPreferred) => {
  expect(prefersOpenMetrics(accept)).toBe(isPreferred);
});

test('work that waits is refused once at most, however often its turn comes', async () => {
  const { scene } = await fedScene();
  const { gate, limiter } = scene.node;
  const lane = laneOf(scene.node.groups.numbers.get('orders') as number, 0);
  // Orders have 1 MiB/s: 5 attempts of it at a time, while it fills.
  gate.consume('orders', { bytes: 1_200_000 });
  const waits = [1, 2, 3].map(() => gate.acquire('orders', { bytes: 400_000 }, { waitMs: 60_000 }));
  expect((await Promise.all(waits)).map(({ granted }) => granted)).toEqual([true, true, true]);
  const text = await scene.metrics.text();
  const [, refusals] = /^quotamesh_refusals_total\{direction="publish"\} (\d+)$/m.exec(text) ?? [];
  const [, bytes] = /^quotamesh_refused_bytes_total\{direction="publish"\} (\d+)$/m.exec(text) ?? [];
  expect(limiter.refusals.at(lane)).toBeGreaterThan(3);
  expect(Number(refusals)).toBeLessThanOrEqual(3);
  expect(Number(bytes)).toBe(400_000 * Number(refusals));
});

describe('/metrics in OpenMetrics', () => {
  test('names the trace of the latest refusal of a direction, with its own time', async () => {
    const { scene, exemplars, metrics } = await fedScene();
    await scene.acquire({ group: 'blocked', messages: 1 });
    exemplars.note('publish', { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), atMs: 1_700_000_000_250 });
    const { contentType, text } = await metrics.scrape(PROMETHEUS);
    expect(contentType).toBe(OPEN_METRICS_TYPE);
    const labels = `trace_id="${'a'.repeat(32)}",span_id="${'b'.repeat(16)}"`;
    expect(text).toContain(`quotamesh_refusals_total{direction="publish"} 1 # {${labels}} 1 1700000000.250\n`);
    expect(text).toMatch(/^quotamesh_refusals_total\{direction="dispatch"\} 0$/m);
  });

  test('has every series of the text format, each family once, counters without _total, and an end', async () => {
    const { metrics } = await fedScene();
    const [plain, open] = [(await metrics.scrape('text/plain')).text, (await metrics.scrape(PROMETHEUS)).text];
    expect(seriesOf(open)).toEqual(seriesOf(plain));
    const families = [...open.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, type]) => [name, type]);
    expect(new Set(families.map(([name]) => name)).size).toBe(families.length);
    for (const [name, type] of families) {
      if (type !== 'counter') continue;
      expect(name).not.toMatch(/_total$/);
      expect(seriesOf(open).filter((series) => series.split('{')[0] === name)).toEqual([]);
    }
    expect(open).not.toContain('\n\n');
    expect(open.endsWith('\n# EOF\n')).toBe(true);
    expect(open.match(/^# EOF$/gm)).toHaveLength(1);
  });

  test('is told to nobody where no SDK records spans', async () => {
    const { exemplars, metrics } = await fedScene();
    exemplars.isFed = false;
    const { contentType, text } = await metrics.scrape(PROMETHEUS);
    expect(contentType).toMatch(/^text\/plain/);
    expect(text).not.toContain('# EOF');
  });
});

async function fedScene() {
  const scene = await readyScene({ metrics: { perGroup: 'all' } });
  onTestFinished(() => scene.close());
  const exemplars = new RefusalExemplars();
  exemplars.isFed = true;
  return { scene, exemplars, metrics: createMetrics({ node: scene.node, exemplars }) };
}

/** Names and labels; values move between two scrapes. */
function seriesOf(text: string): string[] {
  return [...text.matchAll(/^([a-z]\S*) /gm)].map(([, series]) => series).filter((name) => !MOVING.test(name));
}

/** Series of Node itself that come and go between two scrapes. */
const MOVING = /^nodejs_(gc_duration|active_)/;
