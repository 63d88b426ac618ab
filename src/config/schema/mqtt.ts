import { z } from 'zod';
import { section } from '../setting/section.js';
import { HOST_NAME } from '../setting/setting.js';
import { MQTT_TLS } from './access.js';
import { RATE_MAX } from './limits.js';
import { MQTT_RULE } from './mqtt-rules.js';

/** Settings of `quotamesh mqtt`. `quotamesh run` checks them, too, but does not use them. */
export const MQTT = section({
  host: {
    kind: 'name',
    default: '127.0.0.1',
    pattern: HOST_NAME,
    buys: '0.0.0.0 or :: lets clients on other machines connect.',
    costs:
      'Needs `auth:`, or `insecure: true` (docs/operate/access.md). A username is believed; the password is the token.',
  },
  port: {
    kind: 'count',
    default: 1883,
    min: 0,
    max: 65_535,
    buys: 'Several brokers on one machine need different ports; 0 lets the system choose one.',
    costs: 'Port 0 is known only from the log.',
  },
  maxConnections: {
    kind: 'count',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    buys: 'More clients at once; beyond it new connections are closed.',
    costs: 'About 20 KB each, beside mqtt.maxHeldBytes for all together.',
  },
  maxPacketBytes: {
    kind: 'bytes',
    default: 1_048_576,
    min: 128,
    max: 268_435_460,
    buys: 'Larger messages. A client that sends a larger packet is cut off before its body is read.',
    costs: 'Memory per connection in the hands of clients.',
  },
  maxHeldBytes: {
    kind: 'bytes',
    default: 67_108_864,
    min: 1_048_576,
    max: 1e12,
    buys: 'More memory for what was read of all connections and may not go on yet: packets whose end has not come, and publishes over their quota with what follows them. Beyond it the connection whose packet has been incomplete for longest is ended, without one the connection that has held something for longest.',
    costs:
      'That memory. A throttled client is read ahead for a sixteenth of what is free of its half; pings further behind wait as its publishes do.',
  },
  maxPendingPublishes: {
    kind: 'count',
    default: 1000,
    min: 1,
    max: 65_535,
    buys: 'More publishes per connection that are admitted and not delivered yet, before it is not read on.',
    costs: 'Memory; a publisher gets further ahead of slow deliveries.',
  },
  maxPendingBytes: {
    kind: 'bytes',
    default: 67_108_864,
    min: 1024,
    max: 1e12,
    buys: 'More memory for publishes of all connections that are admitted and not delivered yet.',
    costs: 'That memory. Beyond it connections that publish are not read until half of it is free.',
  },
  maxQueuedMessages: {
    kind: 'count',
    default: 1000,
    min: 1,
    max: 1_000_000,
    buys: 'More messages that wait for one subscriber before QoS 0 is dropped and publishers of QoS 1 and 2 wait.',
    costs: 'Memory and age: what waits is that much older. At twice as many the subscriber is cut off.',
  },
  maxQueuedBytes: {
    kind: 'bytes',
    default: 8_388_608,
    min: 1024,
    max: 1e12,
    buys: 'The same in bytes.',
    costs: 'That memory, per subscriber.',
  },
  notReadingMs: {
    kind: 'duration',
    default: 10_000,
    min: 100,
    max: 3_600_000,
    buys: 'More patience with a subscriber that takes nothing from its connection while messages wait for it.',
    costs: 'Publishers of QoS 1 and 2 whose messages go there wait as long.',
  },
  maxSessionMessages: {
    kind: 'count',
    default: 10_000,
    min: 1,
    max: 65_535,
    buys: 'Longer absences: messages of QoS 1 and 2 that one session (clean: false) holds until they are acknowledged. As many of QoS 2 may one client leave unreleased.',
    costs: 'Memory per session. Beyond it new ones are dropped; a client that is connected is cut off.',
  },
  maxSessionBytes: {
    kind: 'bytes',
    default: 67_108_864,
    min: 1024,
    max: 1e12,
    buys: 'More memory for what all sessions hold: payloads, counted once per session; 256 bytes for a message of QoS 2 that is not released.',
    costs: 'That memory, and some 300 bytes per message and session besides.',
  },
  maxSubscriptions: {
    kind: 'count',
    default: 1_000_000,
    min: 1,
    max: 100_000_000,
    buys: 'More subscriptions: of connected clients, and of sessions (clean: false) whose clients may never come back.',
    costs: 'Some 500 bytes each, until the client ends them or goes; those of a session until a clean one begins.',
  },
  maxFiltersPerPacket: {
    kind: 'count',
    default: 1000,
    min: 1,
    max: 100_000,
    buys: 'Clients that subscribe to more topics at once, or again after they were away (many libraries name all in one packet).',
    costs:
      'Each filter holds all other clients up for some 25 µs. A packet with more ends its connection before any of them counts.',
  },
  maxRetainedMessages: {
    kind: 'count',
    default: 100_000,
    min: 0,
    max: 100_000_000,
    buys: 'More topics with a retained message; beyond it a new one is delivered, but not retained.',
    costs: 'Memory; each SUBSCRIBE looks at all of them.',
  },
  maxRetainedBytes: {
    kind: 'bytes',
    default: 67_108_864,
    min: 1024,
    max: 1e12,
    buys: 'The same in bytes of payload.',
    costs: 'That memory.',
  },
  connectsPerSecond: {
    kind: 'rate',
    default: 500,
    min: 0,
    max: RATE_MAX,
    buys: 'Clients are back sooner after a restart: a second’s worth at once, so that 2,000 that try again every second are all in after 3 s. Beyond it CONNECT is refused (return code 3).',
    costs:
      'Clients that reconnect in a loop, or take one client id from each other, come in as often: each time what follows a CONNECT (subscriptions and messages of the session, the will of the one before). Not the connection itself: to refuse it takes as long as to let it in.',
  },
  subscribesPerSecond: {
    kind: 'rate',
    default: null,
    defaultText: 'unlimited',
    min: 0,
    max: RATE_MAX,
    buys: 'A limit per client (by client id) of SUBSCRIBE packets; beyond it the connection is not read.',
    costs: 'Clients that subscribe to topics one by one take longer to start.',
  },
  rules: {
    kind: 'entries',
    of: { schema: z.array(MQTT_RULE), text: 'a list of rules (docs/guide/mqtt.md)' },
    default: null,
    defaultText: 'none: no message is limited',
    buys: 'Client id, username or topic → tenant and namespace → group; the first rule that matches decides.',
    costs: 'A rule is looked at per message until one matches.',
  },
  tls: MQTT_TLS,
});
