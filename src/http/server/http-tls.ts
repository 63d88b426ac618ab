import type { Server } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type ListenerTls, secureContextOf } from '../../access/listener-tls.js';

/** New connections get the new certificate; those that are open keep theirs. */
export function renewTls(app: FastifyInstance, tls: ListenerTls | null): void {
  const { server } = app as { server: Partial<Pick<Server, 'setSecureContext'>> };
  if (tls !== null) server.setSecureContext?.(secureContextOf(tls));
}
