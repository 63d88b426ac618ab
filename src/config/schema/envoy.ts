import { section } from '../setting/section.js';
import { LISTEN_ADDRESS } from '../setting/setting.js';
import { LISTENER_TLS } from './access.js';

/** Settings of the gRPC listener that Envoy asks (docs/guide/envoy.md). */
export const ENVOY = section({
  listen: {
    kind: 'name',
    default: null,
    defaultText: 'none: Envoy is not served',
    pattern: LISTEN_ADDRESS,
    missedBy: 'gateways of Envoy',
    buys: 'gRPC at this HOST:PORT, by `quotamesh run`, `mqtt` and `kafka-quotas`; port 0 lets the system choose one.',
    costs: 'Other machines need `auth:`, or `insecure: true` (docs/operate/access.md).',
  },
  tls: LISTENER_TLS,
});
