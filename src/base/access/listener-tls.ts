import type { Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** Certificate, key and client authorities of a listener, PEM; null = there is none. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  readonly passphrase: string | null;
  readonly clientCa: string | null;
  readonly clientCertificates: 'optional' | 'required';
}

/** New connections get the new certificate; those that are open keep theirs. Whether there is TLS stays as it is. */
export function renewTls(server: Server, tls: ListenerTls | null): void {
  if (tls !== null && server instanceof TlsServer) server.setSecureContext(secureContextOf(tls));
}

/** Options of a TLS server. Where certificates are not `required`, a client without one may show a token instead. */
export function serverOptionsOf(tls: ListenerTls) {
  const { clientCa, clientCertificates } = tls;
  const requestCert = clientCa !== null;
  return { ...secureContextOf(tls), requestCert, rejectUnauthorized: requestCert && clientCertificates === 'required' };
}

/** The part of it that can change while the server listens. */
export function secureContextOf({ cert, key, passphrase, clientCa }: ListenerTls) {
  return {
    cert,
    key,
    ...(passphrase === null ? {} : { passphrase }),
    ...(clientCa === null ? {} : { ca: clientCa }),
  };
}
