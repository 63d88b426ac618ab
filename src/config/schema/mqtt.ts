import { z } from 'zod';
import { section } from '../setting/section.js';
import { HOST_NAME } from '../setting/setting.js';
import { LISTENER_TLS } from './access.js';
import { RATE } from './limits.js';
import { MQTT_RULE } from './mqtt-rules.js';

/** Settings of `quotamesh mqtt`. `quotamesh run` checks them, too, but does not use them. */
export const MQTT = section({
  host: {
    kind: 'name',
    default: '127.0.0.1',
    pattern: HOST_NAME,
    missedBy: 'clients on other machines',
    buys: '0.0.0.0 or :: lets clients on other machines connect.',
    costs:
      'Needs `auth:`, or `insecure: true` (docs/operate/access.md). A username is not checked; the password is the token.',
  },
  port: {
    kind: 'count',
    default: 1883,
    min: 0,
    max: 65_535,
    missedBy: 'two brokers on a machine',
    buys: 'Several brokers on one machine need different ports; 0 lets the system choose one.',
    costs: 'Port 0 is known only from the log.',
  },
  maxConnections: {
    kind: 'count',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    missedBy: 'more devices',
    buys: 'More clients at once. A newcomer beyond it takes the place of the connection that has waited longest without a login; where there is none, it is closed.',
    costs: 'About 20 KB each, beside mqtt.maxHeldBytes for all together.',
  },
  maxPacketBytes: {
    kind: 'bytes',
    default: 1_048_576,
    min: 128,
    max: 268_435_460,
    missedBy: 'larger payloads',
    buys: 'Larger messages. A client that sends a larger packet is cut off before its body is read.',
    costs: 'Memory per connection in the hands of clients.',
  },
  maxSessionMessages: {
    kind: 'count',
    default: 10_000,
    min: 1,
    max: 65_535,
    missedBy: 'devices that are away for long',
    buys: 'Longer absences: messages of QoS 1 and 2 that one session (clean: false) holds until they are acknowledged. As many of QoS 2 may one client leave unreleased.',
    costs: 'Memory per session. Beyond it new ones are dropped; a client that is connected is cut off.',
  },
  connectsPerSecond: {
    ...RATE,
    default: 500,
    missedBy: 'large fleets after a restart',
    buys: 'Clients are back sooner after a restart: a second’s worth at once, so that 2,000 that try again every second are all in after 3 s. Beyond it CONNECT is refused (return code 3).',
    costs:
      'Clients that reconnect in a loop, or take one client id from each other, come in as often: each time what follows a CONNECT (subscriptions and messages of the session, the will of the one before). Not the connection itself: to refuse it takes as long as to let it in.',
  },
  subscribesPerSecond: {
    ...RATE,
    default: null,
    defaultText: 'unlimited',
    missedBy: 'clients that subscribe in loops (PIP-322)',
    buys: 'A limit per client (by client id) of SUBSCRIBE packets; beyond it the connection is not read.',
    costs: 'Clients that subscribe to topics one by one take longer to start.',
  },
  rules: {
    kind: 'entries',
    of: { schema: z.array(MQTT_RULE), text: 'a list of rules (docs/guide/mqtt.md)' },
    default: null,
    defaultText: 'none: no message is limited',
    missedBy: 'everybody',
    buys: 'Client id, username or topic → tenant and namespace → group; the first rule that matches decides.',
    costs: 'A rule is looked at per message until one matches.',
  },
  tls: LISTENER_TLS,
});
