import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ThrottleReason, ThrottleTracker } from '../core/limiter/throttle-tracker.js';
import { ArrivedPackets } from './arrived-packets.js';
import { closeSocket, reasonOf } from './close-socket.js';
import type { ConnectionRules } from './connection-rules.js';
import { DispatchQueue } from './dispatch-queue.js';
import { checkPacket } from './packet-check.js';
import {
  CONNACK,
  DISCONNECT,
  PacketError,
  PacketSplitter,
  PINGREQ,
  PUBLISH,
  SUBSCRIBE,
  typeOf,
  UNANSWERED,
} from './packets.js';
import { SubscribeTurn } from './subscribe-turn.js';
import { TurnPacer } from './turn-pacer.js';

/**
 * Stands between a client's socket and aedes: hands packets to aedes one by one, and takes from it what goes to the
 * client. The socket is read only when nothing that was read before waits, so at most one packet waits here, with what
 * the same read brought behind it, and TCP holds the client back (PIP-322, throttling at the connection).
 *
 * A PUBLISH goes on when no reason holds the connection and the one before it has been decided. Acknowledgements and
 * pings are not throttled, but go on a few per turn of the event loop, and what is answered not before the client has
 * read its answers: 4 MB of pings took the broker from everybody for 15 s. None of them overtakes a PUBLISH.
 */
export class GatedConnection extends Duplex {
  readonly socket: Socket;
  readonly throttle: ThrottleTracker;
  readonly dispatch: DispatchQueue;
  readonly ended: AbortController = new AbortController();
  clientId = '';
  username = '';
  /** The keep-alive that the client has asked for; 0 = none. */
  keepAliveMs = 0;
  readonly #rules: ConnectionRules;
  readonly #arrived: ArrivedPackets;
  readonly #outgoing = new PacketSplitter(Number.POSITIVE_INFINITY);
  #state: 'new' | 'connecting' | 'connected' = 'new';
  #wanted = false;
  #feedPlanned = false;
  #undecided = false;
  readonly #pacer = new TurnPacer(() => {
    this.#undecided = false;
    this.#planFeed();
  });
  #resting = false;
  readonly #unthrottled = new TurnPacer(() => {
    this.#resting = false;
    this.#planFeed();
  });
  readonly #subscribeTurn = new SubscribeTurn({
    waitMs: () => this.#rules.subscribeWaitMs(this),
    onHeld: (isHeld) => this.#holdSubscribe(isHeld),
  });
  #passing: (() => void) | null = null;
  #inputEnded = false;
  #passedMs: number;
  #lingerTimer: NodeJS.Timeout | null = null;
  #endReason: string | null = null;

  constructor(socket: Socket, rules: ConnectionRules) {
    // One packet at a time to aedes; what it writes is taken at once: queues and bounds are those of `dispatch`.
    super({ readableHighWaterMark: 1, writableHighWaterMark: Number.MAX_SAFE_INTEGER });
    this.socket = socket;
    this.#rules = rules;
    this.#passedMs = rules.clock();
    this.#arrived = new ArrivedPackets(rules.maxPacketBytes, rules.onHeldBytes);
    this.throttle = new ThrottleTracker((on) => {
      rules.onReading(this, on);
      if (on) this.#resume();
    });
    this.dispatch = new DispatchQueue(this, rules.dispatch);
    socket.on('readable', () => this.#planFeed());
    socket.on('end', () => this.#endInput());
    socket.on('drain', () => this.#drained());
    socket.on('error', () => this.cutOff('connection-lost'));
    socket.on('close', () => (this.#inputEnded ? this.#linger() : this.cutOff('connection-lost')));
  }

  mark(reason: ThrottleReason): void {
    this.throttle.mark(reason, this.#rules.clock());
  }

  unmark(reason: ThrottleReason): void {
    this.throttle.unmark(reason, this.#rules.clock());
  }

  get isConnected(): boolean {
    return this.#state === 'connected';
  }

  /** Whether more than a packet's time of answers and messages waits for the client to read. */
  get isBackedUp(): boolean {
    return this.socket.writableLength > OUTBOUND_BYTES_MAX;
  }

  /** The PUBLISH that went on last has been decided: the next one may. */
  decided(): void {
    this.#pacer.next();
  }

  /** Calls when no reason holds the connection: now, or once the last has gone. For the PUBLISH that is being decided. */
  whenReading(pass: () => void): void {
    if (this.throttle.isThrottled) this.#passing = pass;
    else pass();
  }

  /** Why the connection is about to end; the first reason counts. */
  noteReason(reason: string): void {
    this.#endReason ??= reason;
  }

  /** Ends the connection; the first reason counts. MQTT 3.1.1 has no packet that could tell the client. */
  cutOff(reason: string): void {
    this.noteReason(reason);
    this.destroy();
  }

  /**
   * Sends aedes a ping in the client's name while the client's own are not read, so that neither side takes a pause for
   * a dead peer: aedes restarts its keep-alive time and answers, which restarts the client's.
   */
  keepAlive(nowMs: number): void {
    const held = this.#undecided || this.throttle.isThrottled;
    if (!held || !this.isConnected || this.keepAliveMs === 0 || !this.#wanted) return;
    if (nowMs - this.#passedMs < this.keepAliveMs / 2) return;
    this.#passOn(PINGREQ);
  }

  /** A whole packet to the client. */
  send(packet: Buffer): void {
    if (!this.socket.writable) return;
    this.socket.write(packet);
    if (this.isBackedUp) this.mark('outboundBufferFull');
  }

  override _read(): void {
    this.#wanted = true;
    this.#planFeed();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    for (const packet of this.#outgoing.push(chunk)) this.#route(packet);
    done();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#lingerTimer !== null) clearTimeout(this.#lingerTimer);
    this.#subscribeTurn.close();
    this.ended.abort();
    this.throttle.setActive(false);
    this.dispatch.close();
    this.#passing = null;
    this.#arrived.clear();
    closeSocket(this.socket);
    this.#rules.onEnded(this, this.#endReason ?? (error === null ? null : reasonOf(error)));
    done(error);
  }

  #resume(): void {
    const pass = this.#passing;
    this.#passing = null;
    pass?.();
    this.#planFeed();
  }

  #route(packet: Buffer): void {
    if (typeOf(packet) === PUBLISH) {
      this.dispatch.offer(packet);
      return;
    }
    // Acknowledgements and answers to pings overtake messages that wait: they are nobody's quota.
    this.send(packet);
    if (typeOf(packet) === CONNACK && this.#state === 'connecting') {
      this.#state = 'connected';
      this.#planFeed();
    }
  }

  /** Not within aedes's own read, which would get two packets at once. */
  #planFeed(): void {
    if (this.#feedPlanned || this.destroyed) return;
    this.#feedPlanned = true;
    queueMicrotask(() => {
      this.#feedPlanned = false;
      this.#feed();
    });
  }

  #feed(): void {
    if (!this.#wanted || this.#resting || this.destroyed) return;
    if (this.#arrived.next === undefined && !this.#inputEnded) this.#readSocket();
    const packet = this.#arrived.next;
    if (packet === undefined) {
      // What waits to be decided was sent before the end and is still published.
      if (this.#inputEnded && !this.#undecided) this.push(null);
      return;
    }
    if (!this.#mayPass(packet)) return;
    const work = this.#checked(packet);
    if (work === null) return;
    this.#arrived.shift();
    this.#passOn(packet);
    if (typeOf(packet) === PUBLISH) return;
    this.#resting = true;
    this.#unthrottled.next(work);
  }

  #readSocket(): void {
    try {
      this.#arrived.readFrom(this.socket, this.#state === 'new');
    } catch (error) {
      this.#fail(error);
    }
  }

  /** How much work the packet is; null where aedes must not get it. */
  #checked(packet: Buffer): number | null {
    try {
      return checkPacket(packet, this.#rules.maxFiltersPerPacket);
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #fail(error: unknown): void {
    this.cutOff(error instanceof PacketError ? error.reason : 'connection-lost');
  }

  #mayPass(packet: Buffer): boolean {
    const type = typeOf(packet);
    if (this.#state === 'new') {
      this.#state = 'connecting';
      return true;
    }
    if (this.#state === 'connecting') return false;
    if (type === PUBLISH) {
      if (this.#undecided || this.throttle.isThrottled) return false;
      this.#undecided = true;
      return true;
    }
    if (type === DISCONNECT) return !this.#undecided;
    if (!UNANSWERED.has(type) && this.throttle.countOf('outboundBufferFull') > 0) return false;
    return type !== SUBSCRIBE || this.#subscribeTurn.hasCome();
  }

  #holdSubscribe(isHeld: boolean): void {
    if (isHeld) this.mark('subscribeRate');
    else this.unmark('subscribeRate');
    this.#planFeed();
  }

  #passOn(packet: Buffer): void {
    this.#wanted = false;
    this.#passedMs = this.#rules.clock();
    this.push(packet);
  }

  #drained(): void {
    this.unmark('outboundBufferFull');
    this.dispatch.run();
    this.#planFeed();
  }

  #endInput(): void {
    this.#inputEnded = true;
    this.#planFeed();
  }

  /** The client has said all and gone; what it said before is still published, at the rate that it may. */
  #linger(): void {
    if (this.destroyed || this.#lingerTimer !== null) return;
    this.#lingerTimer = setTimeout(() => this.cutOff('gone-while-throttled'), LINGER_MS);
    this.#lingerTimer.unref();
  }
}

/** Answers and messages in the socket beyond this: the client is not reading. */
const OUTBOUND_BYTES_MAX = 256 * 1024;
const LINGER_MS = 60_000;
