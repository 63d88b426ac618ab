import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { KeeperStatus } from '../../kafka-quotas/keeper-status.js';
import { json, number, PROBLEM, record, text } from '../route/answer-schemas.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';

/** Adds the route beside a keeper of Kafka's quotas (`quotamesh kafka-quotas`). */
export function addKafkaQuotasRoute(app: FastifyInstance, status: () => KeeperStatus): void {
  route(
    app,
    {
      method: 'GET',
      url: '/v1/kafka-quotas',
      access: needs('viewer'),
      tag: 'status',
      summary: 'Shows the keeper of Kafka’s quotas: who writes, what exporters say, what every entity has',
      query: NO_QUERY,
      answers: { 200: json('The state of the keeper of this node.', KEEPER), 422: PROBLEM },
    },
    (_, reply) => {
      reply.send(status());
    },
  );
}

const EXPORTER = record({
  url: text,
  state: text.meta({ description: 'One of fine, odd, silent, unknown.' }),
  problem: text.nullable(),
  silentMs: number.nullable(),
  series: number,
});

const LIMIT = record({
  entity: text,
  quotaName: text,
  group: text,
  quota: number.meta({ description: 'Bytes per second of the whole Kafka cluster.' }),
  inForce: number.nullable().meta({ description: 'Bytes per second that every broker enforces.' }),
  usage: number.meta({ description: 'Bytes per second of all brokers together.' }),
  state: text.meta({ description: 'One of kept, left, waiting.' }),
  original: number.nullable().meta({ description: 'What a release puts back.' }),
  brokers: z.array(record({ url: text, rate: number.nullable(), isSaturated: z.boolean() })),
});

const KEEPER = record({
  keeper: text,
  writer: text.nullable(),
  term: number,
  mayWrite: z.boolean(),
  keepers: z.array(text),
  kafkaProblem: text.nullable(),
  exporters: z.array(EXPORTER),
  windows: z.array(record({ broker: text, windows: number, windowSeconds: number })),
  limits: z.array(LIMIT),
  leftOut: number,
  alterations: number,
  alterationsFailed: number,
  foreignChanges: number,
});
