import { fetchedText, fetchFailure } from '../../base/input/fetched-text.js';
import type { Clock } from '../../base/ports/clock.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { PolledBackend, ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { labelsOf, selectorOf } from '../../config/setting/metric-selector.js';
import { backendIdOf, bitsOf } from '../../core/base/ids.js';
import type { CoordinatorView } from '../../core/machine/coordinator-view.js';
import type { ReportedHealth } from '../api/quota-node.js';

/** Most bytes of a page; a large process's has some hundred KB. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

interface BackendPollerParts {
  readonly config: Pick<ResolvedConfig, 'cluster' | 'backends'>;
  readonly clock: Clock;
  readonly loop: CoordinatorView;
  readonly telemetry: Telemetry;
  readonly reportBackend: (backend: string, health: ReportedHealth) => void;
}

/**
 * Reads backends' health from their Prometheus pages. One alive node polls each, chosen by the backend's id. A failing
 * endpoint publishes nothing: its last health holds for limiting.healthValidMs, then none does, so that a broken sensor
 * throttles nothing.
 */
export class BackendPoller {
  /** Polls by outcome, since the start. */
  readonly polls = { good: 0, failed: 0 };
  readonly #parts: BackendPollerParts;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #failing = new Set<string>();
  #isStopped = false;

  constructor(parts: BackendPollerParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const backend of this.#parts.config.backends) this.#plan(backend, 0);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #plan(backend: PolledBackend, afterMs: number): void {
    if (this.#isStopped) return;
    const timer = setTimeout(() => void this.#poll(backend), afterMs);
    this.#timers.set(backend.name, timer.unref());
  }

  async #poll(backend: PolledBackend): Promise<void> {
    const startMs = this.#parts.clock();
    if (this.#isOurs(backend)) {
      try {
        const level = metricSample(await fetchPage(backend), backend.metric);
        const { name, zone, target, spring } = backend;
        if (this.#parts.loop.isReady) this.#parts.reportBackend(name, { zone, level, target, spring });
        this.polls.good++;
        if (this.#failing.delete(name)) this.#parts.telemetry.log('info', 'backend answers again', { backend: name });
      } catch (error) {
        this.#failed(backend, fetchFailure(error));
      }
    }
    this.#plan(backend, Math.max(0, backend.everyMs - (this.#parts.clock() - startMs)));
  }

  #isOurs({ name }: PolledBackend): boolean {
    const { config, loop } = this.#parts;
    const { coordinator } = loop;
    if (coordinator === null || !loop.isReady) return false;
    const { alive } = coordinator.membership;
    return alive[bitsOf(backendIdOf(config.cluster, name)) % alive.length]?.nodeKey === coordinator.nodeKey;
  }

  #failed({ name: backend, url }: PolledBackend, reason: string): void {
    if (this.#isStopped) return;
    this.polls.failed++;
    if (this.#failing.has(backend)) return;
    this.#failing.add(backend);
    const message = 'health of a backend cannot be read; its last good word holds for a while, then nothing is limited';
    const { origin, pathname } = new URL(url);
    this.#parts.telemetry.log('warn', message, { backend, url: origin + pathname, reason });
  }
}

async function fetchPage({ url, timeoutMs }: PolledBackend): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  return fetchedText(response.body, PAGE_BYTES_MAX);
}

/**
 * Finds one sample in a Prometheus page: `queue_bytes`, or `queue_bytes{shard="1"}` with perhaps more labels. The rest
 * of the page is not parsed. Throws without a sample, or with several.
 */
export function metricSample(page: string, wanted: string): number {
  const { metric: name, labels: asked } = selectorOf(wanted);
  const values: number[] = [];
  for (const line of page.split('\n')) {
    if (!line.startsWith(name)) continue;
    const [, itsName, itsLabels = '', value] = SAMPLE.exec(line) ?? [];
    if (itsName !== name) continue;
    const { labels } = labelsOf(itsLabels, 0);
    if ([...asked].every(([label, text]) => labels.get(label) === text)) values.push(Number(value));
  }
  if (values.length === 0) throw new Error(`no sample of ${wanted}`);
  if (values.length > 1) throw new Error(`${values.length} samples of ${wanted}: add labels until there is one`);
  return values[0];
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?[ \t]+(\S+)/;
