import { Access } from '../../base/access/access.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { NodeHttp } from '../../node/api/node-http.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { closeHttp, listen } from '../http/server/http-server.js';
import { assembleHttp } from './assemble-http.js';

export interface EmbeddedHttp extends NodeHttp {
  close(): Promise<void>;
}

/**
 * Opens the HTTP of a node inside of a service: where the configuration says, or nowhere, for requests that the service
 * hands over. Throws HTTP_ADDRESS_IN_USE, OPTIONS_INVALID.
 */
export async function openEmbeddedHttp(node: NodeParts, isHandler: boolean): Promise<EmbeddedHttp> {
  const { config, telemetry, clock } = node;
  const access = new Access(config.auth, clock, telemetry);
  // A service may listen for everybody, and behind a proxy everybody comes from this machine.
  if (isHandler && access.isOpen && !config.insecure) {
    const reason =
      'is reached by whoever reaches the service: the configuration must have `auth:`, or `insecure: true`';
    throw new QuotameshError('OPTIONS_INVALID', { field: 'http', reason });
  }
  const { app } = await assembleHttp({ node, access, telemetry });
  if (isHandler) await app.ready();
  const url = isHandler ? null : await listen(app, node);
  telemetry.log('info', 'http listening', { url });
  return {
    url,
    handler: (request, response) => {
      app.server.emit('request', request, response);
    },
    close: () => closeHttp(app, HTTP_GRACE_MS),
  };
}

/** A request is answered in microseconds; who has not sent all of it by then will not. */
const HTTP_GRACE_MS = 500;
