import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Access, Listener } from './access.js';

/** Returns the client's certificate; null = none, or no TLS. Throws AUTH_FAILED, AUTH_LIMITED. */
export function shownCertificate(
  access: Access,
  socket: Socket,
  { address, listener }: { readonly address: string; readonly listener: Listener },
): PeerCertificate | null {
  if (!(socket instanceof TLSSocket)) return null;
  const certificate = socket.getPeerCertificate();
  if (certificate === null || Object.keys(certificate).length === 0) return null;
  if (!socket.authorized) access.untrusted(String(socket.authorizationError), address, listener);
  return certificate;
}
