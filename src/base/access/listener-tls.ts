import type { Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** Certificate, key and client authorities of a listener, PEM; null = none. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  readonly passphrase: string | null;
  readonly clientCa: string | null;
  readonly clientCertificates: 'optional' | 'required';
}

/** Gives new connections the new certificate; open ones keep theirs, and TLS stays on or off. */
export function renewTls(server: Server, tls: ListenerTls | null): void {
  if (tls !== null && server instanceof TlsServer) server.setSecureContext(secureContextOf(tls));
}

/** Returns options of a TLS server. Unless `required`, a client without certificate may show a token. */
export function serverOptionsOf(tls: ListenerTls) {
  const { clientCa, clientCertificates } = tls;
  const requestCert = clientCa !== null;
  return { ...secureContextOf(tls), requestCert, rejectUnauthorized: requestCert && clientCertificates === 'required' };
}

/** Returns the options that may change while the server listens. */
export function secureContextOf({ cert, key, passphrase, clientCa }: ListenerTls) {
  return {
    cert,
    key,
    ...(passphrase === null ? {} : { passphrase }),
    ...(clientCa === null ? {} : { ca: clientCa }),
  };
}
