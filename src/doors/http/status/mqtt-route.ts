import type { FastifyInstance } from 'fastify';
import type { MqttStatus } from '../../mqtt/mqtt-status.js';
import { COUNTS, json, number, PROBLEM, record, text } from '../route/answer-schemas.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';

export function addMqttRoute(app: FastifyInstance, status: () => MqttStatus): void {
  route(
    app,
    {
      method: 'GET',
      url: '/v1/mqtt',
      access: needs('viewer'),
      tag: 'status',
      summary: 'Shows the MQTT broker: its connections, who is throttled and why, its messages',
      query: NO_QUERY,
      answers: { 200: json('The state of the broker of this node.', MQTT), 422: PROBLEM },
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
  throttledBy: COUNTS.meta({ description: 'How many connections are held now, by reason.' }),
  throttledMs: number.meta({ description: 'How many milliseconds all connections together were held.' }),
  connects: COUNTS,
  publishes: COUNTS,
  dispatched: number,
  dropped: number.meta({
    description: 'How many messages of QoS 0 were dropped because the queue of a subscriber was full.',
  }),
  queued: number.meta({ description: 'How many messages wait for their subscriber.' }),
  pendingPublishes: number,
  pendingBytes: number,
  heldBytes: number,
  disconnects: COUNTS.meta({ description: 'How many connections were ended, by reason.' }),
  kept: COUNTS.meta({
    description: 'What is kept for sessions that outlive their connection, and as retained messages.',
  }),
});
