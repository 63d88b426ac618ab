import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { isLoopback } from '../../../base/access/loopback.js';

/** Headers that browsers set and pages cannot forge. */
type PageHeaders = Pick<
  IncomingHttpHeaders,
  'origin' | 'host' | 'accept-language' | 'sec-fetch-site' | 'sec-fetch-mode' | 'sec-fetch-dest'
>;

/**
 * Checks that a browser of this machine shows this listener's own page. The whole authority must be the address
 * connected to: a foreign name may lead here (DNS rebinding), and another user may listen at the same port of another
 * address. Browsers take `localhost` (127.0.0.1 and ::1) for one origin: it counts where this listener has both.
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

/** Writes an authority as browsers do, without a scheme's default port. */
function authorityOf(scheme: (typeof SCHEMES)[number], host: string, port: number): string {
  return port === (scheme === 'http' ? 80 : 443) ? host : `${host}:${port}`;
}

/** Detects requests made by a page of another origin. Browsers say so to HTTPS, and to addresses of their machine. */
export function isAskedAcrossSites({ 'sec-fetch-site': site }: PageHeaders): boolean {
  return site === 'cross-site' || site === 'same-site';
}

/** Detects a followed link: its answer is a page of its own, in no frame. */
export function isLinkFollowed({ 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }: PageHeaders): boolean {
  return mode === 'navigate' && dest === 'document';
}

/**
 * Detects a browser of this machine that asks by a name others could own. A page whose own name leads here (DNS
 * rebinding) is of the node's origin and sends no sign of it. Browsers are known by Accept-Language, which a page can
 * change and not leave out; to trusted hosts, which such a name never is, they add Sec-Fetch-Mode, and so do some
 * programs.
 */
export function isReboundName(headers: PageHeaders, remoteAddress: string | undefined): boolean {
  const { host = '', 'accept-language': language, 'sec-fetch-mode': mode } = headers;
  if (language === undefined || mode !== undefined) return false;
  return remoteAddress !== undefined && isLoopback(remoteAddress) && !isOwnName(host);
}

/**
 * Tests if nobody else can own a host name: an address, or a name without a dot. `0.0.0.0` leads here, too, and only
 * foreign pages write it.
 */
function isOwnName(host: string): boolean {
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  if (isIP(name) !== 0) return name !== '0.0.0.0' && name !== '::';
  return !name.includes('.') || name.endsWith('.localhost');
}
