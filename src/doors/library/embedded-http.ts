import { Access } from '../../base/access/access.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { NodeHttp } from '../../node/api/quota-node.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { closeHttp, listen } from '../http/server/http-server.js';
import { assembleHttp } from './assemble-http.js';

type ClosableHttp = NodeHttp & { close(): Promise<void> };

/** Opens a node's HTTP inside a service: listening, or as a handler. Throws HTTP_ADDRESS_IN_USE, OPTIONS_INVALID. */
export async function openEmbeddedHttp(node: NodeParts, isHandler: boolean): Promise<ClosableHttp> {
  const { config, telemetry, clock } = node;
  const access = new Access(config.auth, clock, telemetry);
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

/** Milliseconds for unfinished requests at the close; answers take microseconds. */
const HTTP_GRACE_MS = 500;
