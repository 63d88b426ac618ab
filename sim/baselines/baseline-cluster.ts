import type { ClusterUnderTest, DeliveryFaults, Reader, Ways } from '../cluster/cluster-under-test.js';
import type { BaselineEnvironment, Quota } from './baseline.js';
import type { MessageBus } from './message-bus.js';
import { SimulatedProcess } from './simulated-process.js';

/** Describes a process of a baseline. */
export interface Member<Message> {
  tryAcquire(messages: number, bytes: number, retry: boolean): boolean;
  /** Takes a fetch of up to a batch; absent: piece by piece. */
  takeBatch?(messages: number, reader: Reader): number;
  limitOf(dimension: 0 | 1): number;
  receive(message: Message, from: string): void;
  /** Is called last, before a clean end. */
  leave(): void;
  setQuota(quota: Quota): void;
}

/** Spreads a changed quota in a way of its own; absent: one message per member. */
type SpreadQuota = (quota: Quota) => void;

/** Runs members of one kind: starts, ends, freezes and cuts them off. */
export class BaselineCluster<Message> implements ClusterUnderTest {
  readonly name: string;
  readonly #environment: BaselineEnvironment;
  readonly #bus: MessageBus<Message>;
  readonly #create: (process: SimulatedProcess, quota: Quota) => Member<Message>;
  readonly #spreadQuota: SpreadQuota;
  readonly #members = new Map<string, { readonly process: SimulatedProcess; readonly member: Member<Message> }>();
  #quota: Quota;

  constructor(
    name: string,
    environment: BaselineEnvironment,
    bus: MessageBus<Message>,
    create: (process: SimulatedProcess, quota: Quota) => Member<Message>,
    spreadQuota?: SpreadQuota,
  ) {
    this.name = name;
    this.#environment = environment;
    this.#bus = bus;
    this.#create = create;
    this.#quota = environment.quota;
    this.#spreadQuota = spreadQuota ?? ((quota) => this.#tellEach(quota));
  }

  get runningNodes(): readonly string[] {
    return [...this.#members].flatMap(([node, { process }]) => (process.isRunning ? [node] : []));
  }

  get sent(): { readonly records: number; readonly bytes: number } {
    return this.#bus.sent;
  }

  start(node: string): void {
    if (this.#members.get(node)?.process.isRunning === true) return;
    const process = new SimulatedProcess(node, this.#environment.queue);
    const member = this.#create(process, this.#quota);
    this.#members.set(node, { process, member });
    this.#bus.attach(node, (message, from) => process.perform(() => member.receive(message, from)));
  }

  crash(node: string): void {
    const running = this.#running(node);
    if (running === undefined) return;
    running.process.end();
    this.#bus.detach(node);
  }

  leave(node: string): void {
    this.#running(node)?.member.leave();
    this.crash(node);
  }

  stall(node: string, durationMs: number): void {
    this.#running(node)?.process.freeze(durationMs);
  }

  cutOff(node: string, ways: Ways): void {
    this.#bus.cut(node, ways);
  }

  setOutage(isAway: boolean): void {
    this.#bus.setOutage(isAway);
  }

  setFaults(faults: DeliveryFaults): void {
    this.#bus.setFaults(faults);
  }

  setQuota(messagesPerSecond: number, bytesPerSecond: number): void {
    this.#quota = { messagesPerSecond, bytesPerSecond };
    this.#spreadQuota(this.#quota);
  }

  tryAcquire(node: string, messages: number, bytes: number, retry: boolean): boolean {
    const running = this.#running(node);
    return running?.process.isServing === true && running.member.tryAcquire(messages, bytes, retry);
  }

  takeBatch(node: string, messages: number, reader: Reader): number {
    const running = this.#running(node);
    if (running?.process.isServing !== true) return 0;
    const { member } = running;
    if (member.takeBatch !== undefined) return member.takeBatch(messages, reader);
    let got = 0;
    while (got < messages && member.tryAcquire(1, 0, false)) got++;
    return got;
  }

  limitOf(node: string, dimension: 0 | 1): number {
    return this.#running(node)?.member.limitOf(dimension) ?? 0;
  }

  #running(node: string) {
    const running = this.#members.get(node);
    return running?.process.isRunning === true ? running : undefined;
  }

  /** Changes each member's quota one delivery later, as a store notifies them. */
  #tellEach(quota: Quota): void {
    const { queue, random, delays } = this.#environment;
    for (const { process, member } of this.#members.values()) {
      queue.after(random.between(...delays.deliveryMs), () => process.perform(() => member.setQuota(quota)));
    }
  }
}
