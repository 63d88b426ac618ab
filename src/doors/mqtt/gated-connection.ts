import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../../base/ports/clock.js';
import { type ThrottleReason, ThrottleTracker } from '../../core/limiter/throttle-tracker.js';
import { DispatchQueue, type DispatchRules } from './dispatch-queue.js';
import type { HeldBytes } from './held-bytes.js';
import { checkPacket } from './packet-check.js';
import { PacketLane } from './packet-lane.js';
import { PacketWriter } from './packet-writer.js';
import {
  CONNACK,
  CONNECT,
  DISCONNECT,
  NOTHING,
  OVERTAKING,
  PacketError,
  PacketSplitter,
  PINGREQ,
  PINGRESP_PACKET,
  PUBLISH,
  packetLength,
  packetsOf,
  packetType,
  SUBSCRIBE,
  UNANSWERED,
} from './packets.js';
import type { WriteLine } from './write-line.js';

/**
 * Hands a client's packets to aedes one by one. aedes learns of a connection when its CONNECT is whole; no more is read
 * until it is accepted. A PUBLISH goes on when no reason holds the connection and the one before is decided. Meanwhile
 * the socket is read on, within a bound, for pings: a broker may not say unasked that it is alive. Beyond that TCP
 * holds the client back (PIP-322, throttling at the connection). Acknowledgements and pings are not throttled. A few go
 * on per turn of the event loop, and those that need an answer wait until the client has read earlier ones. Otherwise a
 * flood of pings would stop the broker.
 */
export class GatedConnection extends Duplex {
  readonly socket: Socket;
  readonly throttle: ThrottleTracker;
  readonly dispatch: DispatchQueue;
  readonly writer: PacketWriter;
  readonly ended: AbortController = new AbortController();
  clientId = '';
  username = '';
  /** Keep-alive of the client; 0 = none. */
  keepAliveMs = 0;
  readonly #rules: ConnectionRules;
  readonly #arrived: ArrivedPackets;
  readonly #outgoing = new PacketSplitter(Infinity);
  #state: 'new' | 'arrived' | 'connecting' | 'connected' = 'new';
  #wanted = false;
  #feedPlanned = false;
  #undecidedBytes = 0;
  /** Bytes of the SUBSCRIBE whose retained messages are on their way. */
  #subscribingBytes = 0;
  readonly #pacer = new TurnPacer(() => {
    this.#undecidedBytes = 0;
    this.#planFeed();
  });
  #resting = false;
  readonly #unthrottled = new TurnPacer(() => {
    this.#resting = false;
    this.#planFeed();
  });
  #subscribeTimer: NodeJS.Timeout | undefined;
  #passing: (() => void) | null = null;
  #inputEnded = false;
  readonly #openedMs: number;
  /** Last sign of the client, and bytes received by then. */
  readonly #received = { atMs: 0, bytes: 0 };
  #lingerTimer: NodeJS.Timeout | undefined;
  #endReason: string | null = null;

  constructor(socket: Socket, rules: ConnectionRules) {
    // One packet at a time to aedes; what it writes is bounded by `dispatch` and `held`.
    super({ readableHighWaterMark: 1, writableHighWaterMark: Number.MAX_SAFE_INTEGER });
    this.socket = socket;
    this.#rules = rules;
    this.#openedMs = rules.clock();
    this.#arrived = new ArrivedPackets(rules.maxPacketBytes);
    this.throttle = new ThrottleTracker((on) => {
      rules.onReading(this, on);
      if (on) this.#resume();
    });
    this.writer = new PacketWriter(socket, rules.held, rules.line, {
      cutOff: (reason) => this.cutOff(reason),
      onCounted: () => this.dispatch.count(),
      onTaken: () => this.#taken(),
    });
    this.dispatch = new DispatchQueue(this, rules.dispatch, rules.held);
    socket.on('readable', () => this.#planFeed());
    socket.on('end', () => this.#endInput());
    socket.on('error', () => this.cutOff('connection-lost'));
    socket.on('close', () => {
      this.writer.count();
      if (!this.#inputEnded) this.cutOff('connection-lost');
    });
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

  /** True = more than one packet's time of output awaits the client. */
  get isBackedUp(): boolean {
    const { unreadBytes } = this.writer;
    return unreadBytes > 0 && unreadBytes > Math.min(OUTBOUND_BYTES_MAX, this.#rules.held.partBytes);
  }

  /** True = nothing more comes of the client, and it awaits nothing. */
  get hasLeft(): boolean {
    return this.#inputEnded || this.destroyed;
  }

  /** Lets the next PUBLISH go on after the last was decided. */
  decided(): void {
    this.#received.atMs = this.#rules.clock();
    this.#pacer.next();
  }

  /** Lets the next SUBSCRIBE go on: the client has got the retained messages of the last. */
  subscribed(): void {
    this.#subscribingBytes = 0;
    this.#planFeed();
  }

  /** Passes the PUBLISH being decided, once no reason holds the connection. */
  whenReading(pass: () => void): void {
    if (this.throttle.isThrottled) this.#passing = pass;
    else pass();
  }

  /** Notes why the connection is about to end; the first reason counts. */
  noteReason(reason: string): void {
    this.#endReason ??= reason;
  }

  /** Ends the connection, without a word (MQTT 3.1.1 has none); the first reason counts. */
  cutOff(reason: string): void {
    this.noteReason(reason);
    // Counts what an ended connection still sends: it may be the one to go.
    if (this.destroyed) this.socket.destroy();
    else this.destroy();
  }

  /** Ends clients that do not log in or have fallen silent. A timer calls it (MQTT 3.1.1, 3.1.2.10). */
  watch(nowMs: number): void {
    if (!this.isConnected) {
      if (nowMs - this.#openedMs >= CONNECT_MS) this.cutOff('connect-timeout');
      return;
    }
    this.dispatch.watch(nowMs);
    if (!this.#arrived.isEmpty) this.#planFeed();
    const { bytesRead, readableLength, readableHighWaterMark } = this.socket;
    const isPushedBack = readableLength >= readableHighWaterMark;
    const last = this.#received;
    if (bytesRead !== last.bytes || isPushedBack) Object.assign(last, { atMs: nowMs, bytes: bytesRead });
    else if (this.keepAliveMs === 0 || this.#inputEnded) return;
    else if (nowMs - last.atMs > 1.5 * this.keepAliveMs) this.cutOff('keep-alive');
  }

  /** @param payload of the packet, if it is not in it */
  send(packet: Buffer, payload: Buffer = NOTHING): void {
    if (!this.socket.writable) return;
    this.writer.send(packet, payload);
    if (this.isBackedUp && !this.destroyed) this.mark('outboundBufferFull');
  }

  override _read(): void {
    this.#wanted = true;
    this.#planFeed();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    for (const packet of packetsOf(this.#outgoing.push(chunk))) this.#route(packet, NOTHING);
    done();
  }

  /** Takes a packet as aedes writes it. All subscribers of a large message share its payload, or each would copy it. */
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    const payload = chunks[chunks.length - 1].chunk;
    const head = Buffer.concat(chunks.slice(0, -1).map(({ chunk }) => chunk));
    const isOnePacket = this.#outgoing.heldBytes === 0 && packetLength(head, 0) === head.length + payload.length;
    if (payload.length < SHARED_BYTES || !isOnePacket) {
      this._write(Buffer.concat([head, payload]), 'binary', done);
      return;
    }
    this.#route(head, payload);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#lingerTimer);
    clearTimeout(this.#subscribeTimer);
    this.ended.abort();
    this.throttle.setActive(false);
    this.#passing = null;
    this.#arrived.clear();
    this.#rules.held.delete(this);
    closeSocket(this.socket, UNREAD_REASONS.has(this.#endReason ?? ''));
    this.writer.close();
    this.dispatch.close();
    this.#rules.onEnded(this, this.#endReason ?? (error === null ? null : 'protocol-error'));
    done(error);
  }

  #resume(): void {
    const pass = this.#passing;
    this.#passing = null;
    pass?.();
    this.#planFeed();
  }

  #route(packet: Buffer, payload: Buffer): void {
    if (packetType(packet) === PUBLISH) {
      this.dispatch.offer(packet, payload);
      return;
    }
    // Acknowledgements and ping answers overtake messages: they are nobody's quota.
    this.send(packet);
    if (packetType(packet) === CONNACK && this.#state === 'connecting') {
      this.#state = 'connected';
      this.#planFeed();
    }
  }

  /** Feeds aedes outside of its own read: there it would get two packets at once. */
  #planFeed(): void {
    if (this.#feedPlanned || this.destroyed) return;
    this.#feedPlanned = true;
    queueMicrotask(() => {
      this.#feedPlanned = false;
      this.#feed();
    });
  }

  #feed(): void {
    if (this.destroyed || this.#resting) return;
    if (!this.#wanted && this.#state !== 'new') return;
    try {
      while (!this.#passNext() && this.#mayRead() && this.#arrived.readFrom(this.socket));
    } catch (error) {
      this.cutOff(error instanceof PacketError ? error.reason : 'connection-lost');
    }
    if (this.destroyed) return;
    const passedBytes = this.#undecidedBytes + this.#subscribingBytes;
    const heldBytes = this.#arrived.bytes + passedBytes + this.socket.readableLength;
    this.#rules.held.set(this, heldBytes, this.#arrived.incompleteBytes, this.#arrived.wholeBytes);
    if (!this.#inputEnded || !this.#arrived.isEmpty || this.destroyed) return;
    if (this.#state === 'new') this.cutOff('connection-lost');
    // A message sent before the end is still decided and published.
    else if (this.#undecidedBytes === 0) this.push(null);
  }

  /** Passes one packet on. False = all that have arrived must wait. */
  #passNext(): boolean {
    const { ordered, overtaking } = this.#arrived;
    if (overtaking.next !== undefined && this.#mayOvertake(overtaking.next)) this.#pass(overtaking, overtaking.next);
    else if (ordered.next !== undefined && this.#mayPass(ordered.next)) this.#pass(ordered, ordered.next);
    else return false;
    return true;
  }

  #pass(lane: PacketLane, packet: Buffer): void {
    const work = checkPacket(packet, this.#rules.maxFiltersPerPacket);
    lane.shift();
    if (packetType(packet) === PINGREQ) this.send(PINGRESP_PACKET);
    else {
      this.#wanted = false;
      this.push(packet);
    }
    if (packetType(packet) === PUBLISH) return;
    this.#resting = true;
    this.#unthrottled.next(work);
  }

  #mayRead(): boolean {
    if (this.#state !== 'connected') return this.#state === 'new';
    if (this.#arrived.isEmpty && this.#undecidedBytes === 0) return true;
    return this.#arrived.bytes + this.#undecidedBytes < this.#rules.held.partBytes;
  }

  #mayPass(packet: Buffer): boolean {
    const type = packetType(packet);
    if (this.#state === 'new') {
      this.#state = 'arrived';
      this.#rules.onConnect(this);
    }
    if (this.#state === 'arrived' && this.#wanted) {
      this.#state = 'connecting';
      return true;
    }
    if (this.#state !== 'connected') return false;
    if (type === PUBLISH) {
      if (this.#undecidedBytes > 0 || this.throttle.isThrottled) return false;
      this.#undecidedBytes = packet.length;
      return true;
    }
    if (type === DISCONNECT) return this.#undecidedBytes === 0;
    if (this.#mustReadFirst) return false;
    if (type !== SUBSCRIBE) return true;
    if ((this.#subscribingBytes > 0 && !this.hasLeft) || !this.#maySubscribe()) return false;
    this.#subscribingBytes = packet.length;
    return true;
  }

  #mayOvertake(packet: Buffer): boolean {
    return this.isConnected && (UNANSWERED.has(packetType(packet)) || !this.#mustReadFirst);
  }

  /** True = the client has to read before more is answered. */
  get #mustReadFirst(): boolean {
    return this.throttle.countOf('outboundBufferFull') > 0;
  }

  /** Takes a subscription's turn; before it has come, the connection is held. */
  #maySubscribe(): boolean {
    if (this.#subscribeTimer !== undefined) return false;
    const waitMs = this.#rules.subscribeWaitMs(this);
    if (waitMs === 0) return true;
    this.mark('subscribeRate');
    this.#planFeed();
    const due = () => {
      this.#subscribeTimer = undefined;
      this.unmark('subscribeRate');
      this.#planFeed();
    };
    this.#subscribeTimer = setTimeout(due, Math.min(Math.ceil(waitMs), WAIT_MS_MAX));
    return false;
  }

  #taken(): void {
    if (this.writer.unreadBytes > 0 || this.destroyed) return;
    this.dispatch.run();
    if (!this.#mustReadFirst) return;
    this.unmark('outboundBufferFull');
    this.#planFeed();
  }

  #endInput(): void {
    this.#inputEnded = true;
    this.#planFeed();
    // Messages sent before the client left are published at its rate.
    this.#lingerTimer = setTimeout(() => this.cutOff('gone-while-throttled'), LINGER_MS);
    this.#lingerTimer.unref();
  }
}

const OUTBOUND_BYTES_MAX = 256 * 1024;
/** Bytes from which a payload is not copied. Less copies less, but pieces of 64 KiB stay for payloads in them. */
const SHARED_BYTES = 32 * 1024;
const LINGER_MS = 60_000;
/** Milliseconds from the first byte to CONNACK: also over a bad line. */
const CONNECT_MS = 10_000;

/** Reasons after which nothing is sent any more: the client does not read it. */
const UNREAD_REASONS: ReadonlySet<string> = new Set(['dispatch-queue-full', 'held-full', 'not-reading']);

/** Sends what is written, e.g. a refusing CONNACK, but waits only so long for the client. */
function closeSocket(socket: Socket, isUnread: boolean): void {
  if (socket.destroyed) return;
  if (socket.writableLength === 0 || isUnread) {
    socket.destroy();
    return;
  }
  socket.destroySoon();
  setTimeout(() => socket.destroy(), CLOSE_MS).unref();
}

const CLOSE_MS = 1000;

/**
 * Lets a connection go on a few times per turn. The turns are the event loop's: by the next one aedes has looked at
 * subscribers, slow ones hold their publishers back, and other connections had their turn.
 */
class TurnPacer {
  readonly #goOn: () => void;
  #inTurn = 0;
  #isPlanned = false;

  constructor(goOn: () => void) {
    this.#goOn = goOn;
  }

  /** Goes on. @param work of the packet, in plain packets: a SUBSCRIBE of many filters counts as several */
  next(work = 1): void {
    this.#inTurn += work;
    if (this.#inTurn < IN_TURN_MAX) this.#goOn();
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      const waits = this.#inTurn >= IN_TURN_MAX;
      this.#inTurn = 0;
      if (waits) this.#goOn();
    });
  }
}

/** Packets per turn: fewer keep a busy connection waiting for turns, more hold up all others for longer. */
const IN_TURN_MAX = 16;

/** Milliseconds after which a long wait is looked at again. */
const WAIT_MS_MAX = 60_000;

/**
 * Holds bytes read of a client in two queues: ordered ones, and those that overtake. A PUBLISH may wait for minutes, a
 * ping behind it may not (MQTT 3.1.1, 3.1.2.10).
 */
class ArrivedPackets {
  readonly ordered: PacketLane = new PacketLane();
  readonly overtaking: PacketLane = new PacketLane();
  readonly #splitter: PacketSplitter;
  #isFirst = true;
  #wholeBytes = 0;

  constructor(maxPacketBytes: number) {
    this.#splitter = new PacketSplitter(maxPacketBytes, CONNECT_BYTES_MAX);
  }

  get bytes(): number {
    return this.ordered.bytes + this.overtaking.bytes + this.#splitter.heldBytes;
  }

  get incompleteBytes(): number {
    return this.#splitter.heldBytes;
  }

  /** Bytes of all whole packets so far. */
  get wholeBytes(): number {
    return this.#wholeBytes;
  }

  get isEmpty(): boolean {
    return this.ordered.bytes + this.overtaking.bytes === 0;
  }

  /** Reads once; false = the socket has nothing. Throws PacketError. */
  readFrom(socket: Socket): boolean {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return false;
    // Another protocol's bytes may look like the length of a long packet.
    if (this.#isFirst && packetType(chunk) !== CONNECT) throw new PacketError('malformed-packet', 'no CONNECT');
    this.#isFirst = false;
    this.#sort(this.#splitter.push(chunk));
    return true;
  }

  clear(): void {
    this.ordered.clear();
    this.overtaking.clear();
  }

  #sort(whole: Buffer): void {
    this.#wholeBytes += whole.length;
    let overtakingBytes = 0;
    for (const packet of packetsOf(whole)) if (overtakes(packet)) overtakingBytes += packet.length;
    if (overtakingBytes === 0) this.ordered.push(whole);
    else if (overtakingBytes === whole.length) this.overtaking.push(whole);
    else {
      const packets = [...packetsOf(whole)];
      this.overtaking.push(Buffer.concat(packets.filter(overtakes)));
      this.ordered.push(Buffer.concat(packets.filter((packet) => !overtakes(packet))));
    }
  }
}

function overtakes(packet: Buffer): boolean {
  return OVERTAKING.has(packetType(packet));
}

/** Most bytes before the login: a token of 3 KB fits, a longer will does not. */
const CONNECT_BYTES_MAX = 4096;

/** Calls between the broker and a connection. */
export interface ConnectionRules {
  readonly clock: Clock;
  readonly maxPacketBytes: number;
  /** Most filters of one SUBSCRIBE or UNSUBSCRIBE. */
  readonly maxFiltersPerPacket: number;
  readonly dispatch: DispatchRules;
  /** Takes a token: returns milliseconds until the connection may subscribe, 0 = taken. */
  readonly subscribeWaitMs: (connection: GatedConnection) => number;
  readonly held: HeldBytes;
  readonly line: WriteLine;
  /** Called when the CONNECT has arrived and aedes has the connection. */
  readonly onConnect: (connection: GatedConnection) => void;
  readonly onReading: (connection: GatedConnection, on: boolean) => void;
  readonly onEnded: (connection: GatedConnection, reason: string | null) => void;
}
