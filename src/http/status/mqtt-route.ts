import type { FastifyInstance } from 'fastify';
import type { MqttStatus } from '../../mqtt/mqtt-status.js';
import { COUNTS, json, number, PROBLEM, record, text } from '../route/answer-schemas.js';
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
      answers: { 200: json('The broker of this node.', MQTT), 422: PROBLEM },
    },
    (_, reply) => {
      reply.send(status());
    },
  );
}

const MQTT = record({
  url: text,
  connections: number,
  throttledConnections: number,
  throttledBy: COUNTS.meta({ description: 'Connections held now, by reason.' }),
  throttledMs: number.meta({ description: 'Of all connections together.' }),
  connects: COUNTS,
  publishes: COUNTS,
  dispatched: number,
  dropped: number.meta({ description: 'QoS 0 beyond the bound of a subscriber’s queue.' }),
  queued: number.meta({ description: 'Messages that wait for their subscriber.' }),
  pendingPublishes: number,
  pendingBytes: number,
  heldBytes: number,
  disconnects: COUNTS.meta({ description: 'By reason.' }),
  kept: COUNTS.meta({ description: 'For sessions that outlive their connection, and retained messages.' }),
});
