import { createAcquireOutcomes } from '../http/acquire/acquire-answers.js';
import { createHttpServer, type HttpServerParts } from '../http/server/http-server.js';
import type { MetricSources } from '../telemetry/metric-tables.js';
import { createMetrics, RefusalExemplars } from '../telemetry/metrics.js';

type HttpParts = Omit<HttpServerParts, 'metrics' | 'outcomes'> & Pick<MetricSources, 'incidents'>;

export async function assembleHttp({ incidents, ...parts }: HttpParts) {
  const { node, access, mqtt, kafkaQuotas } = parts;
  const outcomes = createAcquireOutcomes();
  const sources: MetricSources = {
    node,
    access,
    outcomes,
    incidents,
    mqtt,
    kafkaQuotas,
    exemplars: new RefusalExemplars(),
  };
  return { app: await createHttpServer({ ...parts, metrics: createMetrics(sources), outcomes }), sources };
}
