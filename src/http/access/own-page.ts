import type { Socket } from 'node:net';
import { isLoopback } from '../../access/loopback.js';

/**
 * Whether a browser of this machine shows a page of this very listener. Addresses are compared, not names: a stranger's
 * name may lead here, too (DNS rebinding), and its pages have the stranger's name for an origin. The one name that may
 * stand there is `localhost`, which browsers give to nobody else.
 */
export function isOwnPage(origin: string, { localPort, remoteAddress }: Pick<Socket, 'localPort' | 'remoteAddress'>) {
  if (localPort === undefined || remoteAddress === undefined || !isLoopback(remoteAddress)) return false;
  return HOSTS.some((host) => SCHEMES.some((scheme) => origin === originOf(scheme, host, localPort)));
}

const HOSTS = ['127.0.0.1', '[::1]', 'localhost'] as const;
const SCHEMES = ['http', 'https'] as const;

/** A browser leaves out the port that a scheme has by itself. */
function originOf(scheme: (typeof SCHEMES)[number], host: string, port: number): string {
  const isUsual = port === (scheme === 'http' ? 80 : 443);
  return isUsual ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
