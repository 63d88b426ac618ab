import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtPlugin } from './built-plugin.js';
import { pulsarClassPath } from './pulsar-cluster.js';

const START_MS = 300_000;

export interface LoadOptions {
  readonly url: string;
  readonly topics: readonly string[];
  readonly batching?: boolean;
  readonly messageBytes?: number;
}

/** What the client has had acknowledged by now. */
export interface Sample {
  readonly ms: number;
  readonly acknowledged: readonly number[];
  readonly consumed: readonly number[];
  readonly p99Us: number;
}

/** Producers of Pulsar's own client, one per topic, in a process of their own (Load.java). */
export class PulsarLoad {
  readonly samples: Sample[] = [];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, topics: number) {
    this.#child = child;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const numbers = line.split(' ').map(Number);
      if (numbers.length !== 2 * topics + 2 || numbers.some(Number.isNaN)) return;
      const [ms = 0, ...rest] = numbers;
      const [acknowledged, consumed] = [rest.slice(0, topics), rest.slice(topics, 2 * topics)];
      this.samples.push({ ms, acknowledged, consumed, p99Us: rest.at(-1) as number });
    });
  }

  static async start({ url, topics, batching = false, messageBytes = 100 }: LoadOptions): Promise<PulsarLoad> {
    const flags = ['-Xmx200m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    const args = [url, batching ? 'batching' : 'single', String(messageBytes), ...topics];
    const classPath = `${join(await builtPlugin(), 'test-classes')}:${await pulsarClassPath()}`;
    const child = spawn('java', [...flags, '-cp', classPath, 'io.quotamesh.pulsar.Load', ...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const load = new PulsarLoad(child, topics.length);
    const deadline = performance.now() + START_MS;
    while (load.samples.length === 0) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error('no producers');
      await sleep(50);
    }
    return load;
  }

  /** Messages per second of each topic; −1 = all that it can. */
  want(...rates: readonly number[]): void {
    this.#child.stdin?.write(`${rates.join(' ')}\n`);
  }

  consume(topic: number): void {
    this.#child.stdin?.write(`consume ${topic}\n`);
  }

  get last(): Sample {
    return this.samples.at(-1) as Sample;
  }

  /** Acknowledged messages per second, per topic, over the coming seconds. */
  async ratesOver(seconds: number): Promise<number[]> {
    const before = this.last;
    await sleep(1000 * seconds);
    return ratesBetween(before, this.last);
  }

  /** Samples since a moment of this machine's clock. */
  since(ms: number): Sample[] {
    return this.samples.filter((sample) => sample.ms >= ms);
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Per second and topic, of acknowledged messages or of consumed ones. */
export function ratesBetween(from: Sample, to: Sample, countsOf: CountsOf = acknowledgedOf): number[] {
  const seconds = (to.ms - from.ms) / 1000;
  const before = countsOf(from);
  return countsOf(to).map((count, at) => (count - before[at]) / seconds);
}

export type CountsOf = (sample: Sample) => readonly number[];
export const acknowledgedOf: CountsOf = ({ acknowledged }) => acknowledged;
export const consumedOf: CountsOf = ({ consumed }) => consumed;

/** The most that was admitted in any window of so many seconds, by a count of each sample. */
export function mostInWindow(samples: readonly Sample[], seconds: number, countsOf: CountsOf): number {
  const countOf = (sample: Sample) => countsOf(sample).reduce((sum, count) => sum + count, 0);
  let most = 0;
  let from = 0;
  for (const sample of samples) {
    while (sample.ms - samples[from].ms > 1000 * seconds) from++;
    most = Math.max(most, countOf(sample) - countOf(samples[from]));
  }
  return most;
}

/**
 * Milliseconds from the first sample to the half second in which a topic has so much, and has it in the mean of the five
 * seconds behind it, too: a full bucket passes for half a second. Infinity = never.
 */
export function reachedAfter(
  samples: readonly Sample[],
  topic: number,
  least: number,
  countsOf = acknowledgedOf,
): number {
  const began = samples[0].ms;
  for (const [at, sample] of samples.entries()) {
    const before = samples.slice(0, at).findLast(({ ms }) => sample.ms - ms >= 500);
    const later = samples.find(({ ms }) => ms - sample.ms >= 5000);
    if (before === undefined || later === undefined) continue;
    const rates = [ratesBetween(before, sample, countsOf), ratesBetween(sample, later, countsOf)];
    if (rates.every((rate) => rate[topic] >= least)) return before.ms - began;
  }
  return Infinity;
}
