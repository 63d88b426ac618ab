import type { Server } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { secureContextOf } from '../../config/read/read-listeners.js';
import type { HttpTlsConfig } from '../../config/resolved/resolved-config.js';

/** Options of node:https. Where certificates are not `required`, a client without one may show a token instead. */
export function serverOptionsOf(tls: HttpTlsConfig) {
  const { clientCa, clientCertificates } = tls;
  const requestCert = clientCa !== null;
  return { ...secureContextOf(tls), requestCert, rejectUnauthorized: requestCert && clientCertificates === 'required' };
}

/** New connections get the new certificate; those that are open keep theirs. */
export function renewTls(app: FastifyInstance, tls: HttpTlsConfig | null): void {
  const { server } = app as { server: Partial<Pick<Server, 'setSecureContext'>> };
  if (tls !== null) server.setSecureContext?.(secureContextOf(tls));
}
