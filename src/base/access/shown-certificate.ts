import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Access, Listener } from './access.js';

/**
 * The certificate that a client has shown in its handshake; null where it has shown none, or there is no TLS. Throws
 * AUTH_FAILED or AUTH_LIMITED where it is of an authority that this node does not trust.
 */
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
