import type { DeliveryFaults, Ways } from '../cluster/cluster-under-test.js';
import type { BaselineEnvironment } from './baseline.js';

type Receive<Message> = (message: Message, from: string) => void;

/**
 * Carries members' messages in virtual time, with all kinds of trouble; keeps nothing for absent ones, as Pulsar's
 * usage topic and others' retries.
 */
export class MessageBus<Message> {
  readonly sent = { records: 0, bytes: 0 };
  readonly #environment: BaselineEnvironment;
  /** True = messages between two keep order, as by topic or TCP. */
  readonly #isOrdered: boolean;
  readonly #receivers = new Map<string, Receive<Message>>();
  readonly #cuts = new Map<string, Ways>();
  /** Sender and receiver → the last planned arrival. */
  readonly #plannedMs = new Map<string, number>();
  #faults: DeliveryFaults = { lostRatio: 0, repeatedRatio: 0, lateRatio: 0, lateMs: 0 };
  #isAway = false;

  constructor(environment: BaselineEnvironment, isOrdered = true) {
    this.#environment = environment;
    this.#isOrdered = isOrdered;
  }

  get addresses(): readonly string[] {
    return [...this.#receivers.keys()];
  }

  /** Attaches a process; a former one of this address gets nothing more. */
  attach(address: string, receive: Receive<Message>): void {
    this.#receivers.set(address, receive);
  }

  detach(address: string): void {
    this.#receivers.delete(address);
  }

  cut(address: string, ways: Ways): void {
    this.#cuts.set(address, ways);
  }

  setOutage(isAway: boolean): void {
    this.#isAway = isAway;
  }

  setFaults(faults: DeliveryFaults): void {
    this.#faults = faults;
  }

  /** Sends a message to one receiver, in one hop. */
  send(from: string, to: string, message: Message, bytes: number): void {
    this.#count(bytes);
    if (!this.#isSendable(from)) return;
    this.#plan(from, to, message, this.#draw('deliveryMs'));
  }

  /** Publishes a message to all attached, the sender too. It takes a hop to the topic, and one to each. */
  publish(from: string, message: Message, bytes: number): void {
    this.#count(bytes);
    if (!this.#isSendable(from)) return;
    const appendMs = this.#draw('appendMs');
    for (const to of this.#receivers.keys()) this.#plan(from, to, message, appendMs + this.#draw('deliveryMs'));
  }

  #count(bytes: number): void {
    this.sent.records++;
    this.sent.bytes += bytes;
  }

  #isSendable(from: string): boolean {
    if (this.#isAway || this.#cuts.get(from)?.appendsCut === true) return false;
    return this.#environment.random.next() >= this.#faults.lostRatio;
  }

  #plan(from: string, to: string, message: Message, delayMs: number): void {
    const { queue, random } = this.#environment;
    const { repeatedRatio, lateRatio, lateMs } = this.#faults;
    const isLate = random.next() < lateRatio;
    const isRepeated = random.next() < repeatedRatio;
    const way = `${from} ${to}`;
    const earliestMs = this.#isOrdered ? (this.#plannedMs.get(way) ?? 0) : 0;
    const atMs = Math.max(queue.nowMs + delayMs + (isLate ? lateMs : 0), earliestMs);
    this.#plannedMs.set(way, atMs);
    queue.at(atMs, () => this.#deliver(from, to, message));
    if (isRepeated) queue.at(atMs + this.#draw('deliveryMs'), () => this.#deliver(from, to, message));
  }

  #deliver(from: string, to: string, message: Message): void {
    if (this.#isAway || this.#cuts.get(to)?.readsCut === true) return;
    this.#receivers.get(to)?.(message, from);
  }

  #draw(way: 'appendMs' | 'deliveryMs'): number {
    return this.#environment.random.between(...this.#environment.delays[way]);
  }
}
