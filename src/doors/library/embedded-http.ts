import type { Access } from '../../base/access/access.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { NodeHttp } from '../../node/api/quota-node.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { createAcquireOutcomes } from '../http/acquire/acquire-answers.js';
import { closeHttp, createHttpServer, type HttpServerParts, listen } from '../http/server/http-server.js';
import type { MetricSources } from '../telemetry/metric-tables.js';
import { createMetrics, RefusalExemplars } from '../telemetry/metrics.js';

type ClosableHttp = NodeHttp & { close(): Promise<void> };

interface Opened {
  /** True = nothing listens. */
  readonly isHandler: boolean;
  readonly envoy: HttpParts['envoy'];
}

/** Opens a node's HTTP inside a service: listening, or as a handler. Throws ADDRESS_IN_USE, OPTIONS_INVALID. */
export async function openEmbeddedHttp(
  node: NodeParts,
  access: Access,
  { isHandler, envoy }: Opened,
): Promise<ClosableHttp> {
  const { config, telemetry } = node;
  if (isHandler && access.isOpen && !config.insecure) {
    const reason =
      'is reached by whoever reaches the service: the configuration must have `auth:`, or `insecure: true`';
    throw new QuotameshError('OPTIONS_INVALID', { of: 'createNode: ', field: 'http', reason });
  }
  const { app } = await assembleHttp({ node, access, telemetry, envoy });
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

type HttpParts = Omit<HttpServerParts, 'metrics' | 'outcomes'> & Pick<MetricSources, 'incidents'>;

export async function assembleHttp({ incidents, ...parts }: HttpParts) {
  const { node, access, mqtt, kafkaQuotas, envoy } = parts;
  const outcomes = createAcquireOutcomes();
  const sources: MetricSources = {
    node,
    access,
    outcomes,
    incidents,
    mqtt,
    kafkaQuotas,
    envoy,
    exemplars: new RefusalExemplars(),
  };
  return { app: await createHttpServer({ ...parts, metrics: createMetrics(sources), outcomes }), sources };
}
