import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { isLoopback } from '../../../base/access/loopback.js';

/** What a browser cannot be made to send otherwise than it is. */
type PageHeaders = Pick<
  IncomingHttpHeaders,
  'origin' | 'host' | 'accept-language' | 'sec-fetch-site' | 'sec-fetch-mode' | 'sec-fetch-dest'
>;

/**
 * Checks that a browser of this machine shows this listener's own page. The whole authority must be the address that
 * was connected to: a foreign name may lead here (DNS rebinding), and another user of the machine may listen at the
 * same port of another address. Browsers take `localhost`, which is 127.0.0.1 and ::1, for one origin: it counts where
 * this listener has both.
 */
export function isOwnPage(
  { origin, host, 'sec-fetch-site': site = 'same-origin' }: PageHeaders,
  { localAddress, localPort, remoteAddress }: Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress'>,
  listensOn: string,
): boolean {
  if (localAddress === undefined || localPort === undefined || remoteAddress === undefined) return false;
  if (!isLoopback(remoteAddress) || site !== 'same-origin') return false;
  const address = localAddress.replace(/^::ffff:/, '');
  const hosts = [isIP(address) === 6 ? `[${address}]` : address, ...(BOTH.has(listensOn) ? ['localhost'] : [])];
  return hosts.some((own) =>
    SCHEMES.some((scheme) => {
      const authority = authorityOf(scheme, own, localPort);
      return host === authority && origin === `${scheme}://${authority}`;
    }),
  );
}

/** Values of http.host that listen at 127.0.0.1 and at ::1. */
const BOTH: ReadonlySet<string> = new Set(['localhost', '::']);
const SCHEMES = ['http', 'https'] as const;

/** A browser leaves out the port that a scheme has by itself. */
function authorityOf(scheme: (typeof SCHEMES)[number], host: string, port: number): string {
  return port === (scheme === 'http' ? 80 : 443) ? host : `${host}:${port}`;
}

/** Whether a page of another origin makes a browser ask. Browsers say so to HTTPS, and to addresses of their machine. */
export function isAskedAcrossSites({ 'sec-fetch-site': site }: PageHeaders): boolean {
  return site === 'cross-site' || site === 'same-site';
}

/** Somebody has clicked, and looks at the answer alone; the answer stands in no frame of a page. */
export function isLinkFollowed({ 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }: PageHeaders): boolean {
  return mode === 'navigate' && dest === 'document';
}

/**
 * Whether a browser of this machine asks by a name that strangers could own: a page whose own name was made to lead
 * here is of the same origin as the node then, and says nothing of itself (DNS rebinding). Browsers are known by
 * Accept-Language, which a page can change and not leave out; at hosts that they trust, which such a name never is, they
 * add Sec-Fetch-Mode, and so do some programs.
 */
export function isReboundName(headers: PageHeaders, remoteAddress: string | undefined): boolean {
  const { host = '', 'accept-language': language, 'sec-fetch-mode': mode } = headers;
  if (language === undefined || mode !== undefined) return false;
  return remoteAddress !== undefined && isLoopback(remoteAddress) && !isOwnName(host);
}

/** Addresses are no names; `0.0.0.0` leads here, too, and only pages of strangers write it. No stranger owns a name without a dot. */
function isOwnName(host: string): boolean {
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  if (isIP(name) !== 0) return name !== '0.0.0.0' && name !== '::';
  return !name.includes('.') || name.endsWith('.localhost');
}
