import { StringDecoder } from 'node:string_decoder';
import { fetchFailure } from '../../base/input/fetched-text.js';
import type { KafkaQuotasConfig } from '../../config/resolved/resolved-config.js';
import { labelsOf, type MetricSelector, selectorOf, unescaped } from '../../config/setting/metric-selector.js';
import { type Entity, entityText, limitKeyOf, type QuotaName } from '../../core/beside/kafka-quotas/entity.js';
import type { ExportedReading, ExporterPage } from '../../core/beside/kafka-quotas/keeper-events.js';

/** Characters of a line at most; names have 249. */
const LINE_LENGTH_MAX = 65_536;

/**
 * Reads a page of a JMX exporter in pieces. Only the line under way and the clients' figures are kept: memory grows
 * with clients, not with bytes.
 */
export class ExporterPageReader {
  readonly #metrics: KafkaQuotasConfig['metrics'];
  readonly #decoder = new StringDecoder('utf8');
  readonly #readings = new Map<string, { entity: Entity; name: QuotaName; rate: number; throttleMs: number }>();
  /** Metric → series by label. */
  readonly #wanted = new Map<string, Wanted[]>();
  #line = '';
  #problem: string | null = null;

  constructor(metrics: KafkaQuotasConfig['metrics']) {
    this.#metrics = metrics;
    this.#want(metrics.producerRate, 'producer_byte_rate', 'rate');
    this.#want(metrics.producerThrottle, 'producer_byte_rate', 'throttleMs');
    this.#want(metrics.consumerRate, 'consumer_byte_rate', 'rate');
    this.#want(metrics.consumerThrottle, 'consumer_byte_rate', 'throttleMs');
  }

  /** First value that is no rate, in words; null = none. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Readings so far; a rate without a throttle time is of a client that did not wait. */
  get readings(): ExportedReading[] {
    return [...this.#readings.values()].map(({ entity, name, rate, throttleMs }) => {
      return { entity, name, reading: { rate, throttleMs } };
    });
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)));
  }

  end(): void {
    this.#take(`${this.#decoder.end()}\n`);
  }

  #want(selector: string, name: QuotaName, part: Wanted['part']): void {
    const { metric, labels } = selectorOf(selector);
    this.#wanted.set(metric, [...(this.#wanted.get(metric) ?? []), { labels, name, part }]);
  }

  #take(text: string): void {
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      if (this.#line.length <= LINE_LENGTH_MAX) this.#readLine(this.#line + text.slice(from, to));
      this.#line = '';
      from = to + 1;
    }
    // One character too many shows a line that is too long.
    this.#line = (this.#line + text.slice(from)).slice(0, LINE_LENGTH_MAX + 1);
  }

  #readLine(line: string): void {
    const brace = line.indexOf('{');
    const ofMetric = brace === -1 ? undefined : this.#wanted.get(line.slice(0, brace));
    if (ofMetric === undefined) return;
    const { labels, end } = labelsOf(line, brace + 1);
    const wanted = ofMetric.find((one) => selects(one, labels));
    if (wanted === undefined) return;
    const entity = this.#entityOf(labels);
    const said = line.slice(end).trim().split(/\s+/, 1)[0] ?? '';
    if (entity === null) return;
    const { name, part } = wanted;
    const value = amountIn(said);
    if (value === null) {
      this.#problem ??= `${line.slice(0, brace)} of ${entityText(entity)} is ${said.slice(0, 40) || 'missing'}`;
      return;
    }
    const key = limitKeyOf(entity, name);
    const reading = this.#readings.get(key) ?? { entity, name, rate: 0, throttleMs: 0 };
    // Two listeners, or a wrong rule of the exporter: the larger sample counts.
    reading[part] = Math.max(reading[part], value);
    this.#readings.set(key, reading);
  }

  /** Returns the series' entity; null = no label names one. */
  #entityOf(labels: ReadonlyMap<string, string>): Entity | null {
    const user = labels.get(this.#metrics.userLabel) ?? '';
    const clientId = labels.get(this.#metrics.clientIdLabel) ?? '';
    if (user === '' && clientId === '') return null;
    return {
      user: user === '' ? null : decodedUser(unquoted(user)),
      clientId: clientId === '' ? null : unquoted(clientId),
    };
  }
}

interface Wanted {
  readonly labels: MetricSelector['labels'];
  readonly name: QuotaName;
  readonly part: 'rate' | 'throttleMs';
}

function selects({ labels: asked }: Wanted, labels: ReadonlyMap<string, string>): boolean {
  for (const [label, value] of asked) if (labels.get(label) !== value) return false;
  return true;
}

/** Parses an amount; NaN = 0 (no throttling); null = negative, absurd, or no number. */
function amountIn(text: string): number | null {
  if (text === 'NaN') return 0;
  const value = text === '' ? Number.NaN : Number(text);
  return value >= 0 && value <= AMOUNT_MAX ? value : null;
}

/**
 * Largest bytes/s of one broker: more is a mistake. *Why:* the first written value begins at the rates, and steps down
 * from 1e300 would take hours.
 */
const AMOUNT_MAX = 1e13;

/** Strips the quotes of an MBean's name with , = : " * or ?, which the exporter keeps. */
function unquoted(name: string): string {
  if (!/^".*"$/s.test(name) || name.length < 2) return name;
  return unescaped(name.slice(1, -1));
}

/** Decodes a user, URL-encoded in Kafka's metrics. */
function decodedUser(user: string): string {
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}

type ReadSettings = Pick<KafkaQuotasConfig, 'timeoutMs' | 'maxPageBytes' | 'metrics'>;

/** Reads one exporter's page; resolves with its failure. */
export async function readExporter(exporter: string, settings: ReadSettings): Promise<ExporterPage> {
  const { timeoutMs, maxPageBytes, metrics } = settings;
  const page = new ExporterPageReader(metrics);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error(`no whole page within ${timeoutMs} ms`)), timeoutMs);
  try {
    const answer = await fetch(exporter, { signal: ending.signal, redirect: 'error' });
    if (answer.status !== 200 || answer.body === null) throw new Error(`status ${answer.status}`);
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += chunk.byteLength;
      if (bytes > maxPageBytes) throw new Error(`a page of more than kafkaQuotas.maxPageBytes = ${maxPageBytes}`);
      page.push(chunk);
    }
    page.end();
    return { exporter, readings: page.readings, problem: page.problem };
  } catch (error) {
    return { exporter, readings: null, problem: fetchFailure(error) };
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}
