import { StringDecoder } from 'node:string_decoder';
import type { KafkaQuotasConfig } from '../../config/resolved/resolved-config.js';
import { labelsOf, type MetricSelector, selectorOf, unescaped } from '../../config/setting/metric-selector.js';
import { type Entity, entityText, limitKeyOf, type QuotaName } from '../../core/beside/kafka-quotas/entity.js';
import type { ExportedReading } from '../../core/beside/kafka-quotas/keeper-events.js';

/** A longer line is none of ours: names have 249 characters at most. */
const LINE_LENGTH_MAX = 65_536;

/**
 * Reads a page of a JMX exporter in pieces, as it comes: only the line that is under way is kept, and what is said of
 * clients. A page of 50 MB takes no more memory than one of 50 kB with as many clients.
 */
export class ExporterPageReader {
  readonly #metrics: KafkaQuotasConfig['metrics'];
  readonly #decoder = new StringDecoder('utf8');
  readonly #readings = new Map<string, { entity: Entity; name: QuotaName; rate: number; throttleMs: number }>();
  /** Metric → what its series say, by their labels. */
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

  /** The first value that is no rate, in words; null = all are. */
  get problem(): string | null {
    return this.#problem;
  }

  /** A rate that is told without a throttle time is that of somebody who did not wait. */
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
    // One character more than a line may have tells that it is too long.
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
    // Two samples of one client come from two listeners, or from a wrong rule of the exporter: the larger one counts.
    reading[part] = Math.max(reading[part], value);
    this.#readings.set(key, reading);
  }

  /** Null where neither label says anything. */
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

/** NaN is what Kafka tells of throttling while there was none. Null = no amount: negative, absurd, or no number. */
function amountIn(text: string): number | null {
  if (text === 'NaN') return 0;
  const value = text === '' ? Number.NaN : Number(text);
  return value >= 0 && value <= AMOUNT_MAX ? value : null;
}

/**
 * Ten terabytes per second at one broker. More is a mistake, and must not count: the first value that is written begins
 * at the rates, and from 1e300 it would take the steps of an hour to come down to the quota.
 */
const AMOUNT_MAX = 1e13;

/** Names with , = : " * or ? stand in quotes in the name of an MBean, and the exporter leaves them there. */
function unquoted(name: string): string {
  if (!/^".*"$/s.test(name) || name.length < 2) return name;
  return unescaped(name.slice(1, -1));
}

/** Kafka encodes users in its metrics, as in a URL. */
function decodedUser(user: string): string {
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}
