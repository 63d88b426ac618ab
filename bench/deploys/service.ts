import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { Child } from '../../src/tools/processes/child.js';
import { PLANS } from './customers.js';

/** Tells what became of a request: a status of HTTP, or that nobody was there to ask. */
export const NOBODY = 0;
export const BROKEN = 1;

export interface Answer {
  readonly status: number;
  /** Requests that were sent for it: a second one where the connection of the first one broke. */
  readonly attempts: number;
}

/** A life of an instance that began or was killed, in epoch milliseconds of the caller's clock. */
export interface LifeChange {
  readonly atMs: number;
  readonly kind: 'started' | 'killed';
}

interface Instance {
  readonly id: string;
  readonly port: number;
  readonly agent: Agent;
  child: Child | null;
  /** The balancer gives it requests. */
  isInTurn: boolean;
  /** When those were sent that it has not answered, oldest first. */
  readonly waiting: Map<number, number>;
}

const PROGRAM = fileURLToPath(new URL('bench/deploys/express-service.mjs', PACKAGE_ROOT));
/** An instance that owes an answer for so long is left out until it answers. */
const SILENT_MS = 1000;
/** A proxy tries another instance once where a connection breaks. */
const ATTEMPTS_MAX = 2;
/** Requests under way are answered before an instance is told to end. */
const DRAIN_MS = 300;
const STOP_MS = 20_000;

/** Instances of the service, and the balancer in front of them: in turn, and only those that are there. */
export class Service {
  readonly places: readonly number[];
  readonly lifeChanges: LifeChange[] = [];
  readonly #instances: readonly Instance[];
  readonly #settings: object;
  readonly #nowMs: () => number;
  #turn = 0;
  #sent = 0;

  /** @param settings what `express-service.mjs` is told, beside its name and port */
  constructor(ports: readonly number[], settings: object, nowMs: () => number) {
    this.#instances = ports.map((port, place) => ({
      id: 'abcdefghij'[place],
      port,
      agent: new Agent({ keepAlive: true }),
      child: null,
      isInTurn: false,
      waiting: new Map(),
    }));
    this.places = ports.map((_, place) => place);
    this.#settings = settings;
    this.#nowMs = nowMs;
  }

  async start(place: number): Promise<void> {
    const instance = this.#at(place);
    const { id, port } = instance;
    instance.child = new Child([PROGRAM, JSON.stringify({ ...this.#settings, id, port, plans: PLANS })]);
    this.lifeChanges.push({ atMs: this.#nowMs(), kind: 'started' });
    await instance.child.next();
    instance.isInTurn = true;
  }

  /** Takes it out of turn, waits for what is under way, and tells it to end. */
  async stop(place: number): Promise<void> {
    const instance = this.#at(place);
    instance.isInTurn = false;
    await sleep(DRAIN_MS);
    const exit = await instance.child?.stop(STOP_MS);
    if (exit?.code !== 0) throw new Error(`instance ${instance.id} did not end in order:\n${instance.child?.logEnd()}`);
    instance.waiting.clear();
  }

  /** As a crash does: the balancer learns it from refused connections, and asks it again only when it is ready. */
  async kill(place: number): Promise<void> {
    const instance = this.#at(place);
    instance.child?.signal('SIGKILL');
    this.lifeChanges.push({ atMs: this.#nowMs(), kind: 'killed' });
    await instance.child?.ended;
    instance.waiting.clear();
  }

  signal(place: number, name: NodeJS.Signals): void {
    this.#at(place).child?.signal(name);
  }

  async close(): Promise<void> {
    await Promise.all(this.#instances.map(({ child }) => child?.stop(STOP_MS)));
    for (const { agent } of this.#instances) agent.destroy();
  }

  async ask(customer: string): Promise<Answer> {
    for (let attempts = 1; attempts <= ATTEMPTS_MAX; attempts++) {
      const instance = this.#next();
      if (instance === null) return { status: NOBODY, attempts: attempts - 1 };
      try {
        return { status: await this.#askAt(instance, customer), attempts };
      } catch {
        if (!instance.child?.isRunning) instance.isInTurn = false;
      }
    }
    return { status: BROKEN, attempts: ATTEMPTS_MAX };
  }

  #at(place: number): Instance {
    return this.#instances[place];
  }

  #next(): Instance | null {
    for (let tried = 0; tried < this.#instances.length; tried++) {
      const instance = this.#at(this.#turn++ % this.#instances.length);
      if (instance.isInTurn && !this.#isSilent(instance)) return instance;
    }
    return null;
  }

  #isSilent({ waiting }: Instance): boolean {
    const [oldestMs] = waiting.values();
    return oldestMs !== undefined && this.#nowMs() - oldestMs > SILENT_MS;
  }

  #askAt({ port, agent, waiting }: Instance, customer: string): Promise<number> {
    const number = this.#sent++;
    waiting.set(number, this.#nowMs());
    return new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port, agent, headers: { 'x-api-key': customer } }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? BROKEN));
        response.once('error', reject);
      })
        .once('error', reject)
        .end();
    }).finally(() => waiting.delete(number));
  }
}
