import { type AddressInfo, createServer as createPlain, type Server, type Socket } from 'node:net';
import { createServer as createSecure, Server as TlsServer } from 'node:tls';
import { Aedes, type Client, type Subscription } from 'aedes';
import type { Access } from '../../base/access/access.js';
import { type ListenerTls, renewTls, serverOptionsOf } from '../../base/access/listener-tls.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { MqttConfig } from '../../config/resolved/resolved-config.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { AnonymousConnections } from './anonymous-connections.js';
import { ArrivalRates } from './arrival-rates.js';
import { dispatchGate } from './dispatch-gate.js';
import { Passages } from './gate-requests.js';
import { type ConnectionRules, GatedConnection } from './gated-connection.js';
import { GroupRules, matchesFilter } from './group-rules.js';
import { HeldBytes } from './held-bytes.js';
import { IDENTIFIER_REJECTED, Logins, SERVER_UNAVAILABLE } from './logins.js';
import { createMqttCounts, type MqttCounts } from './mqtt-counts.js';
import { onePerClient } from './one-per-client.js';
import { PublishGate } from './publish-gate.js';
import { RetainedMessages } from './retained-messages.js';
import { placesOf, placesOfAll } from './room-taken.js';
import {
  boundSessions,
  type SessionBound,
  type SessionRules,
  type SessionStore,
  type StoredPacket,
} from './session-bounds.js';
import { WriteLine } from './write-line.js';

/**
 * Brokers MQTT (aedes, 3.1 and 3.1.1) within this node's quotas: publishes on arrival, dispatches on their way out.
 * Sessions, retained messages and subscriptions are aedes's, in memory, and bounded (session-bounds.ts).
 */
export class MqttBroker {
  readonly counts: MqttCounts = createMqttCounts();
  readonly connections = new Set<GatedConnection>();
  readonly #anonymous = new AnonymousConnections();
  readonly #loggedIn = new Set<GatedConnection>();
  readonly #node: NodeParts;
  readonly #config: MqttConfig;
  readonly #telemetry: Telemetry;
  readonly #logins: Logins;
  readonly #gate: PublishGate;
  readonly #aedes: Aedes;
  readonly #server: Server;
  readonly #arrivals: ArrivalRates;
  readonly #endedConnections: EndedConnections;
  readonly #cleanSubscriptions: CleanSubscriptions;
  /** Last log line of each bound. */
  readonly #loggedMs = new Map<SessionBound, number>();
  readonly #connectionRules: ConnectionRules;
  #retained: RetainedMessages<StoredPacket> = new RetainedMessages();
  #watch: NodeJS.Timeout | null = null;
  #url = '';

  constructor(node: NodeParts, telemetry: Telemetry, access: Access) {
    const { mqtt, defaultGroup } = node.config;
    this.#node = node;
    this.#config = mqtt;
    this.#telemetry = telemetry;
    this.#logins = new Logins(access);
    const rules = new GroupRules(mqtt.rules, {
      defaultGroup,
      isGroup: (name) => node.groups.numbers.has(name) || node.keys?.isKey(name) === true,
      resolve: (scope) => node.gate.scopes.resolve(scope),
    });
    const charging = { passages: new Passages(node), rules, telemetry };
    const { counts } = this;
    this.#endedConnections = new EndedConnections(counts, telemetry, node.clock);
    this.#gate = new PublishGate({ ...mqtt, ...charging, counts });
    this.#arrivals = new ArrivalRates(mqtt, node.clock());
    this.#cleanSubscriptions = new CleanSubscriptions(this.#sessionRules());
    this.#connectionRules = this.#rulesOfConnections(dispatchGate(charging));
    this.#aedes = this.#createAedes();
    this.#server = createListener({
      tls: mqtt.tls,
      onConnection: (socket) => this.#letWait(socket),
      onSocket: (socket) => this.#accept(socket),
      onHandshakeFailed: (reason) => {
        this.#endedConnections.count('handshake-failed');
        telemetry.log('debug', 'mqtt handshake failed', { reason });
      },
    });
  }

  /** Listens by configuration; resolves with the real URL. */
  async listen(): Promise<string> {
    await this.#aedes.listen();
    const { persistence } = this.#aedes as Aedes & { persistence: SessionStore };
    this.#retained = boundSessions(persistence, this.#sessionRules());
    this.#url = await listenOn(this.#server, this.#config);
    this.#watch = setInterval(() => this.#look(), WATCH_EVERY_MS);
    return this.#url;
  }

  get url(): string {
    return this.#url;
  }

  /** Gives new connections the new certificate; TLS itself changes with a restart. */
  renewTls(tls: MqttConfig['tls']): void {
    renewTls(this.#server, tls);
  }

  get clock(): Clock {
    return this.#node.clock;
  }

  /** Ends connections whose token is unknown now, or has lost its role. */
  checkLogins(): void {
    for (const connection of this.connections) {
      if (!this.#logins.holds(connection)) connection.cutOff('token-revoked');
    }
  }

  /** Ends all connections; waiting publishes are dropped. */
  async close(): Promise<void> {
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#server.close();
    for (const connection of this.connections) connection.cutOff('broker-stops');
    await new Promise<void>((resolve) => this.#aedes.close(() => resolve()));
  }

  #createAedes(): Aedes {
    const aedes = new Aedes({
      // 23 characters is MQTT 3.1's bound; many of its clients ignore it.
      maxClientsIdLength: CLIENT_ID_LENGTH_MAX,
      // Bounded with the sessions (session-bounds.ts).
      maxInflightInbound: 0,
      preConnect: (client, packet, done) => {
        const connection = connectionOf(client);
        connection.clientId = packet.clientId;
        connection.keepAliveMs = (packet.keepalive ?? 0) * 1000;
        // Pings are the connection's: aedes would not see those of a waiting client.
        packet.keepalive = 0;
        done(null, true);
      },
      authenticate: (client, username, password, done) => {
        const connection = connectionOf(client);
        const isNameless = connection.clientId === '' && !client.clean;
        connection.clientId = client.id;
        connection.username = username ?? '';
        const returnCode = this.#refusal(connection, password, isNameless);
        if (returnCode === null) done(null, true);
        else done(Object.assign(new Error('not let in'), { returnCode }), false);
      },
      authorizePublish: (client, packet, done) => {
        if (client === null) return done(null);
        if (client.closed) this.#gate.arriveWill(connectionOf(client), packet, done);
        else this.#gate.arrive(connectionOf(client), packet, done);
      },
      authorizeSubscribe: (client, subscription, done) => {
        this.#subscribe(client, subscription, done);
      },
      authorizeForward: (client, packet) => {
        const { clientId } = packet as { clientId?: string };
        if (packet.qos > 0 && clientId !== undefined) this.#holdBack(client, packet.topic, clientId);
        return packet;
      },
    });
    onePerClient(aedes);
    aedes.on('subscribe', (subscriptions, client) => void this.#deliverRetained(subscriptions, client));
    aedes.on('publish', (packet) => this.#gate.delivered(packet));
    aedes.on('unsubscribe', (topics, client) => this.#cleanSubscriptions.remove(connectionOf(client), topics));
    for (const event of ['clientError', 'connectionError'] as const) {
      aedes.on(event, (client, { message }) => {
        this.#telemetry.log('debug', 'mqtt connection failed', { client: client.id, reason: message });
        // aedes gives the connection no reason here.
        if (message === 'Invalid protocol') this.#endedConnections.count('protocol-error');
      });
    }
    return aedes;
  }

  /** Returns the return code of CONNACK; null = let in. */
  #refusal(connection: GatedConnection, password: Readonly<Buffer> | undefined, isNameless: boolean): number | null {
    const refusal = this.#logins.logIn(connection, password) ?? (this.#mayConnect() ? null : SERVER_UNAVAILABLE);
    // MQTT-3.1.3-8: nobody could come back for a session of a made-up id.
    const returnCode = refusal ?? (isNameless ? IDENTIFIER_REJECTED : null);
    if (returnCode === null && !connection.destroyed) {
      this.#anonymous.delete(connection);
      this.#loggedIn.add(connection);
    }
    return returnCode;
  }

  #subscribe(...[client, subscription, done]: Parameters<Aedes['authorizeSubscribe']>): void {
    // aedes alone publishes there: who connects and subscribes. Answered with 128.
    const isReserved = subscription.topic.startsWith('$');
    const isNotCounted = isReserved || !client.clean;
    const fits = isNotCounted || this.#cleanSubscriptions.add(connectionOf(client), client.id, subscription.topic);
    done(fits ? null : new Error('too many subscriptions'), isReserved ? null : subscription);
  }

  /** Delivers a SUBSCRIBE's retained messages. Each goes when the client has got the one before. */
  async #deliverRetained(subscriptions: readonly Subscription[], client: Client): Promise<void> {
    const connection = connectionOf(client);
    const filters = subscriptions.filter(({ qos }) => (qos as number) !== REFUSED).map(({ topic }) => topic);
    const { deliverQoS } = client as Client & { deliverQoS(packet: object, done: () => void): void };
    if (connection.hasLeft) return;
    for await (const message of this.#retained.matching(filters, () => connection.dispatch.room())) {
      const { topic, payload, qos } = message;
      // Without the broker's number, by which aedes would take it for one delivered already.
      const packet = { cmd: 'publish', topic, payload, qos, retain: true, brokerId: null };
      await new Promise<void>((resolve) => deliverQoS(packet, resolve));
      if (connection.hasLeft) return;
    }
    connection.subscribed();
  }

  #rulesOfConnections({ tryAdmit, admit }: ReturnType<typeof dispatchGate>): ConnectionRules {
    const { counts } = this;
    const { clock } = this.#node;
    const { maxPacketBytes, maxFiltersPerPacket, maxHeldBytes, notReadingMs } = this.#config;
    const { maxQueuedMessages: maxMessages, maxQueuedBytes: maxBytes } = this.#config;
    return {
      clock,
      maxPacketBytes,
      maxFiltersPerPacket,
      dispatch: { maxMessages, maxBytes, notReadingMs, tryAdmit, admit, counts },
      subscribeWaitMs: ({ clientId }) => this.#arrivals.subscribeWaitMs(clientId, clock()),
      held: new HeldBytes(maxHeldBytes, counts),
      line: new WriteLine(maxHeldBytes),
      onConnect: (connection) => this.#aedes.handle(connection),
      onReading: (connection, on) => {
        const facts = {
          client: connection.clientId,
          throttledMs: Math.round(connection.throttle.throttledMs(clock())),
        };
        this.#telemetry.log('debug', on ? 'mqtt connection read again' : 'mqtt connection throttled', facts);
      },
      onEnded: (connection, reason) => this.#ended(connection, reason),
    };
  }

  /** Takes a newcomer. At `maxConnections` it ends the oldest connection without a login, or else the newcomer. */
  #letWait(socket: Socket): void {
    const taken = this.#anonymous.size + this.#loggedIn.size;
    if (taken >= this.#config.maxConnections) {
      this.#endedConnections.count('too-many-connections');
      const { oldest = socket } = this.#anonymous;
      this.#anonymous.delete(oldest);
      oldest.destroy();
    }
    if (socket.destroyed) return;
    this.#anonymous.add(socket, socket);
    socket.once('close', () => this.#anonymous.delete(socket));
  }

  #accept(socket: Socket): void {
    if (socket.destroyed) return;
    // Pauses hide a vanished peer from aedes's keep-alive, not from TCP's.
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    const connection = new GatedConnection(socket, this.#connectionRules);
    this.#anonymous.add(connection, socket);
    this.connections.add(connection);
    this.counts.connections = this.connections.size;
  }

  #ended(connection: GatedConnection, reason: string | null): void {
    this.connections.delete(connection);
    this.#anonymous.delete(connection);
    this.#loggedIn.delete(connection);
    this.counts.connections = this.connections.size;
    this.counts.throttledMs += connection.throttle.throttledMs(this.#node.clock());
    this.#gate.ended(connection);
    this.#cleanSubscriptions.ended(connection);
    this.#arrivals.sweep(this.#node.clock());
    if (reason !== null) this.#endedConnections.ended(reason, connection.clientId);
  }

  #mayConnect(): boolean {
    const granted = this.#arrivals.mayConnect(this.#node.clock());
    if (granted) this.counts.connects.accepted++;
    else this.counts.connects.refused++;
    return granted;
  }

  #sessionRules(): SessionRules {
    const onFull = (bound: SessionBound, client: string | null) => this.#full(bound, client);
    return { ...this.#config, counts: this.counts.kept, onFull, onRepeated: (packet) => this.#gate.delivered(packet) };
  }

  /** Cuts off a client whose session is full: it would miss messages and never know. */
  #full(bound: SessionBound, clientId: string | null): void {
    const client = clientId === null ? undefined : this.#clientOf(clientId);
    if (client !== undefined) connectionOf(client).cutOff(bound);
    const nowMs = this.#node.clock();
    if (nowMs - (this.#loggedMs.get(bound) ?? -Infinity) < FULL_LOGGED_EVERY_MS) return;
    this.#loggedMs.set(bound, nowMs);
    this.#telemetry.log('warn', 'mqtt keeps no more', { bound, client: clientId, ...this.counts.kept });
  }

  #clientOf(clientId: string): Client | undefined {
    return (this.#aedes as Aedes & { clients: Record<string, Client> }).clients[clientId];
  }

  /** Holds back the publisher of a slow subscriber. Where QoS 0 is dropped it goes on. */
  #holdBack(subscriber: Client, topic: string, publisherId: string): void {
    const { dispatch } = connectionOf(subscriber);
    if (!dispatch.isFull) return;
    const { subscriptions } = subscriber as Client & { subscriptions: Record<string, { qos: number }> };
    const isWanted = Object.entries(subscriptions).some(([filter, { qos }]) => qos > 0 && matchesFilter(filter, topic));
    const publisher = this.#clientOf(publisherId);
    if (isWanted && publisher !== undefined) dispatch.holdBack(connectionOf(publisher));
  }

  #look(): void {
    const nowMs = this.#node.clock();
    for (const connection of this.connections) connection.watch(nowMs);
  }
}

const WATCH_EVERY_MS = 200;
/** Granted QoS of a filter that was refused. */
const REFUSED = 128;
const CLIENT_ID_LENGTH_MAX = 65_535;
const TCP_KEEP_ALIVE_MS = 30_000;
const FULL_LOGGED_EVERY_MS = 60_000;

function connectionOf(client: Client): GatedConnection {
  return client.conn as GatedConnection;
}

/** Resolves with the real URL; rejects with ADDRESS_IN_USE. */
async function listenOn(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  const shown = host.includes(':') ? `[${host}]` : host;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const facts = { address: `${shown}:${port}`, reason: cause.message };
      reject(new QuotameshError('ADDRESS_IN_USE', facts, { cause }));
    });
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
  const scheme = server instanceof TlsServer ? 'mqtts' : 'mqtt';
  return `${scheme}://${shown}:${(server.address() as AddressInfo).port}`;
}

interface ListenerRules {
  readonly tls: ListenerTls | null;
  /** Called before `onSocket`, which waits for the handshake of TLS. */
  readonly onConnection: (socket: Socket) => void;
  readonly onSocket: (socket: Socket) => void;
  readonly onHandshakeFailed: (reason: string) => void;
}

function createListener({ tls, onConnection, onSocket, onHandshakeFailed }: ListenerRules): Server {
  // Half open: the last message of a client that has gone is still read.
  const options = { allowHalfOpen: true, noDelay: true };
  if (tls === null) return createPlain(options, onConnection).on('connection', onSocket);
  const server = createSecure({ ...options, ...serverOptionsOf(tls), handshakeTimeout: HANDSHAKE_MS }, onSocket);
  server.on('connection', onConnection);
  server.on('tlsClientError', ({ message }) => onHandshakeFailed(message));
  return server;
}

/** Milliseconds for a TLS handshake: four round trips over a bad line. */
const HANDSHAKE_MS = 10_000;

/**
 * Counts subscriptions of clients with a clean session, by connection. aedes keeps them in memory and asks no store
 * about them. They count towards the bound of sessions', and end with the connection.
 */
class CleanSubscriptions {
  readonly #rules: SessionRules;
  readonly #topics = new Map<GatedConnection, Set<string>>();

  constructor(rules: SessionRules) {
    this.#rules = rules;
  }

  /** Adds one; false = no room, or the connection is gone. A topic subscribed to already takes no room. */
  add(connection: GatedConnection, clientId: string, topic: string): boolean {
    const { counts, maxSubscriptions, onFull } = this.#rules;
    const topics = this.#topics.get(connection) ?? new Set();
    if (connection.destroyed) return false;
    if (topics.has(topic)) return true;
    const places = placesOf(topic);
    if (counts.subscriptions + places > maxSubscriptions) {
      onFull('subscriptions-full', clientId);
      return false;
    }
    this.#topics.set(connection, topics.add(topic));
    counts.subscriptions += places;
    return true;
  }

  remove(connection: GatedConnection, topics: readonly string[]): void {
    const known = this.#topics.get(connection);
    for (const topic of topics) if (known?.delete(topic)) this.#rules.counts.subscriptions -= placesOf(topic);
  }

  ended(connection: GatedConnection): void {
    this.#rules.counts.subscriptions -= placesOfAll(this.#topics.get(connection) ?? []);
    this.#topics.delete(connection);
  }
}

export class EndedConnections {
  readonly #counts: MqttCounts;
  readonly #telemetry: Telemetry;
  readonly #clock: Clock;
  /** Last warning of each reason in SAID_SELDOM. */
  readonly #warnedMs = new Map<string, number>();

  constructor(counts: MqttCounts, telemetry: Telemetry, clock: Clock) {
    this.#counts = counts;
    this.#telemetry = telemetry;
    this.#clock = clock;
  }

  count(reason: string): void {
    const { disconnects } = this.#counts;
    disconnects[reason] = (disconnects[reason] ?? 0) + 1;
  }

  ended(reason: string, clientId: string): void {
    this.count(reason);
    const bound = BOUND_BY[reason];
    this.#telemetry.log(this.#levelOf(reason), 'mqtt connection ended', { client: clientId, reason, bound });
  }

  #levelOf(reason: string): 'warn' | 'debug' {
    if (!SAID_SELDOM.has(reason)) return WORTH_A_WARNING.has(reason) ? 'warn' : 'debug';
    const nowMs = this.#clock();
    if (nowMs - (this.#warnedMs.get(reason) ?? -Infinity) < WARNED_EVERY_MS) return 'debug';
    this.#warnedMs.set(reason, nowMs);
    return 'warn';
  }
}

/** Reasons that people should look at; others are clients that come and go. */
const WORTH_A_WARNING: ReadonlySet<string> = new Set([
  'dispatch-queue-full',
  'not-reading',
  'gone-while-throttled',
  'session-full',
  'subscriptions-full',
  'token-revoked',
]);

/** Reasons to warn of seldom: a returning client could fill the log. */
const SAID_SELDOM: ReadonlySet<string> = new Set([
  'connect-too-large',
  'held-full',
  'malformed-packet',
  'malformed-text',
  'packet-id-zero',
  'packet-too-large',
  'too-many-filters',
]);
const WARNED_EVERY_MS = 60_000;

/** Bound that each reason exceeded. */
const BOUND_BY: Readonly<Record<string, string>> = {
  'held-full': 'mqtt.maxHeldBytes',
  'packet-too-large': 'mqtt.maxPacketBytes',
  'too-many-filters': 'mqtt.maxFiltersPerPacket',
};
