import type { FastifyInstance } from 'fastify';
import type { MqttStatus } from '../../mqtt/mqtt-status.js';
import { PROBLEM } from '../route/answer-schemas.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';

/** Only beside an MQTT broker (`quotamesh mqtt`). */
export function addMqttRoute(app: FastifyInstance, status: () => MqttStatus): void {
  route(
    app,
    {
      method: 'GET',
      url: '/v1/mqtt',
      access: needs('viewer'),
      tag: 'status',
      summary: 'The MQTT broker: connections, who is throttled why, messages',
      query: NO_QUERY,
      answers: { 200: MQTT, 422: PROBLEM },
    },
    (_, reply) => {
      reply.send(status());
    },
  );
}

const NUMBER = { type: 'number' } as const;
const COUNTS = { type: 'object', additionalProperties: NUMBER } as const;

const MQTT = {
  type: 'object',
  properties: {
    url: { type: 'string' },
    connections: NUMBER,
    throttledConnections: NUMBER,
    throttledBy: { ...COUNTS, description: 'Connections held now, by reason.' },
    throttledMs: { ...NUMBER, description: 'Of all connections together.' },
    connects: COUNTS,
    publishes: COUNTS,
    dispatched: NUMBER,
    dropped: { ...NUMBER, description: 'QoS 0 beyond the bound of a subscriber’s queue.' },
    queued: { ...NUMBER, description: 'Messages that wait for their subscriber.' },
    pendingPublishes: NUMBER,
    pendingBytes: NUMBER,
    heldBytes: NUMBER,
    disconnects: { ...COUNTS, description: 'By reason.' },
    kept: { ...COUNTS, description: 'For sessions that outlive their connection, and retained messages.' },
  },
} as const;
