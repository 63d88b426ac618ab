import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HttpPipe } from '../../src/tools/load/http-pipe.js';
import { Child } from '../../src/tools/processes/child.js';

const PROGRAM = fileURLToPath(new URL('../../examples/embed-keys.mjs', import.meta.url));
const IDS = ['a', 'b', 'c'];
/** The quota of each key in 10 s. */
export const QUOTA_10S = 100;
export const FIRST_BURST = 600;
/** All three nodes count each other by then; buckets begin full. */
export const COUNTED_MS = 5000;
/** Behind a burst that three services give together, one of them may believe for so long that less is left than is. */
const SETTLE_MS = 20_000;
const JUDGED_MS = 30_000;
/** Twice the quota. */
const HOT_PER_SECOND = 20;
const HOT_OF_EACH_KIND = 8;
const COLD_KEYS = 10_000;
const TICK_MS = 10;
const WINDOW_MS = 10_000;
const PIPES = 4;
const STOP_PATIENCE_MS = 8000;

export interface HotKey {
  readonly name: string;
  /** Admitted of FIRST_BURST requests that came at once. */
  readonly firstBurst: number;
  /** Least and most admitted in any 10 s under twice the quota. */
  readonly least: number;
  readonly most: number;
}

export interface KeysStory {
  /** Each key at one service. */
  readonly sticky: readonly HotKey[];
  /** Each request at any of three. */
  readonly random: readonly HotKey[];
  /** How many of the keys that are used once. */
  readonly coldAdmitted: number;
  readonly coldKeys: number;
  readonly statuses: Readonly<Record<number, number>>;
  /** From the first to the last byte of each request, ms: the 99th of a hundred. */
  readonly latencyMs: number;
  /** Grants of a key that the longest pause of a service or of its customers moves from one window to the next. */
  readonly moved: number;
}

/** Three services of examples/embed-keys.mjs, and customers of whom nobody has told them. */
export async function playKeys(): Promise<KeysStory> {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-keys-'));
  const services = IDS.map((id) => new Child([PROGRAM, id, '0', folder]));
  try {
    const urls = await Promise.all(services.map(urlOf));
    await sleep(COUNTED_MS);
    const customers = new Customers(urls);
    const sticky = hotKeys('sticky');
    const random = hotKeys('random');
    for (const key of [...sticky, ...random]) {
      customers.connect();
      for (let asked = 0; asked < FIRST_BURST; asked++) customers.ask(key.name, key.name.startsWith('sticky'));
      await customers.answered();
      key.firstBurst = key.admitted.length;
    }
    const judgedFromMs = performance.now() + SETTLE_MS;
    const endMs = judgedFromMs + JUDGED_MS;
    customers.connect();
    customers.isMeasured = true;
    const cold = await ask(customers, [...sticky, ...random], endMs);
    await customers.answered();
    customers.close();
    const told = ({ name, firstBurst, admitted }: Asking) => ({
      name,
      firstBurst,
      ...windows(admitted, judgedFromMs, endMs),
    });
    return {
      sticky: sticky.map(told),
      random: random.map(told),
      coldAdmitted: cold.filter(({ admitted }) => admitted.length === 1).length,
      coldKeys: cold.length,
      statuses: customers.statuses,
      latencyMs: customers.latencyMs(),
      moved: Math.ceil((customers.pausedMs * QUOTA_10S) / WINDOW_MS),
    };

    function hotKeys(kind: string): Asking[] {
      return Array.from({ length: HOT_OF_EACH_KIND }, (_, at) => customers.key(`${kind}-${at}`));
    }
  } finally {
    await Promise.all(services.map((service) => service.stop(STOP_PATIENCE_MS)));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Hot keys at an even rate until the end, and meanwhile every cold key once. */
async function ask(customers: Customers, hot: readonly Asking[], endMs: number): Promise<readonly Asking[]> {
  const cold: Asking[] = [];
  const startMs = performance.now();
  let [asked, beforeMs] = [0, startMs];
  for (let nowMs = startMs; nowMs < endMs; nowMs = performance.now()) {
    customers.pausedMs = Math.max(customers.pausedMs, nowMs - beforeMs - TICK_MS);
    beforeMs = nowMs;
    const due = ((nowMs - startMs) * HOT_PER_SECOND * hot.length) / 1000;
    for (; asked < due; asked++) {
      const { name } = hot[asked % hot.length];
      customers.ask(name, name.startsWith('sticky'));
    }
    const coldDue = (COLD_KEYS * (nowMs - startMs)) / (endMs - startMs);
    while (cold.length < coldDue) {
      const key = customers.key(`once-${cold.length}`);
      customers.ask(key.name, false);
      cold.push(key);
    }
    await sleep(TICK_MS);
  }
  return cold;
}

interface Granted {
  readonly sentMs: number;
  readonly answeredMs: number;
}

interface Asking {
  readonly name: string;
  readonly admitted: Granted[];
  firstBurst: number;
}

class Customers {
  isMeasured = false;
  /** The longest that an answer, or who asks, was late. */
  pausedMs = 0;
  readonly statuses: Record<number, number> = {};
  readonly #urls: readonly URL[];
  #pipes: readonly HttpPipe[][] = [];
  readonly #keys = new Map<string, Asking>();
  readonly #latencies: number[] = [];
  #turn = 0;
  #underWay = 0;

  constructor(urls: readonly URL[]) {
    this.#urls = urls;
  }

  /** New connections, none of which is about to be closed. */
  connect(): void {
    this.close();
    this.#pipes = this.#urls.map(() => []);
  }

  key(name: string): Asking {
    const key = { name, admitted: [], firstBurst: 0 };
    this.#keys.set(name, key);
    return key;
  }

  ask(name: string, isSticky: boolean): void {
    const service = isSticky ? Number(name.split('-')[1]) % IDS.length : Math.floor(Math.random() * IDS.length);
    const pipe = this.#pipeTo(service);
    const sentMs = performance.now();
    this.#underWay++;
    const request = `GET / HTTP/1.1\r\nhost: service\r\nx-api-key: ${name}\r\n\r\n`;
    const onAnswer = (status: number | null) => {
      const nowMs = performance.now();
      this.#underWay--;
      this.statuses[status ?? 0] = (this.statuses[status ?? 0] ?? 0) + 1;
      if (this.isMeasured) {
        this.#latencies.push(nowMs - sentMs);
        this.pausedMs = Math.max(this.pausedMs, nowMs - sentMs);
      }
      if (status === 200) this.#keys.get(name)?.admitted.push({ sentMs, answeredMs: nowMs });
    };
    pipe.send({ request, onAnswer });
  }

  /** A service closes a connection that nobody has used for 5 s. */
  #pipeTo(service: number): HttpPipe {
    const pipes = this.#pipes[service];
    const at = this.#turn++ % PIPES;
    const known = pipes[at];
    if (known?.isOpen === true) return known;
    const { hostname, port } = this.#urls[service];
    const made = new HttpPipe({ host: hostname, port: Number(port) });
    pipes[at] = made;
    return made;
  }

  async answered(): Promise<void> {
    while (this.#underWay > 0) await sleep(TICK_MS);
  }

  latencyMs(): number {
    return this.#latencies.sort((one, other) => one - other)[Math.floor(0.99 * this.#latencies.length)] ?? Number.NaN;
  }

  close(): void {
    for (const pipe of this.#pipes.flat()) pipe.close();
  }
}

/**
 * The most that was certainly decided in a window, sent and answered within, and the least that may have been, sent or
 * answered within: where a process waits for a core, neither of the two times is that of the decision. Windows begin
 * with a grant, or right behind one.
 */
function windows(granted: readonly Granted[], fromMs: number, toMs: number): { least: number; most: number } {
  const starts = granted.flatMap(({ sentMs, answeredMs }) => [sentMs, answeredMs + 1e-6]);
  const within = starts.filter((ms) => ms >= fromMs && ms + WINDOW_MS <= toMs);
  return {
    least: Math.min(
      ...within.map((ms) => granted.filter((one) => one.answeredMs >= ms && one.sentMs < ms + WINDOW_MS).length),
    ),
    most: Math.max(
      ...within.map((ms) => granted.filter((one) => one.sentMs >= ms && one.answeredMs < ms + WINDOW_MS).length),
    ),
  };
}

function urlOf(service: Child): Promise<URL> {
  return new Promise((resolve, reject) => {
    const look = setInterval(() => {
      const url = /http:\S+/.exec(service.stdout)?.[0];
      if (url === undefined && service.isRunning) return;
      clearInterval(look);
      if (url === undefined) reject(new Error(`a service ended: ${service.logEnd()}`));
      else resolve(new URL(url));
    }, 50);
  });
}
