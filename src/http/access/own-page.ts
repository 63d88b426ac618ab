import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { isLoopback } from '../../access/loopback.js';

/** What a browser cannot be made to send otherwise than it is. */
type PageHeaders = Pick<
  IncomingHttpHeaders,
  'origin' | 'host' | 'accept-language' | 'sec-fetch-site' | 'sec-fetch-mode' | 'sec-fetch-dest'
>;

/**
 * Whether a browser of this machine shows a page of this very listener. Addresses are compared, not names: a stranger's
 * name may lead here, too (DNS rebinding), and its pages have the stranger's name for an origin. The one name that may
 * stand there is `localhost`, which browsers give to nobody else. The page must also ask for the host that it came from:
 * another user of the machine may listen at the same port of another address of it.
 */
export function isOwnPage(
  { origin, host, 'sec-fetch-site': site = 'same-origin' }: PageHeaders,
  { localPort, remoteAddress }: Pick<Socket, 'localPort' | 'remoteAddress'>,
): boolean {
  if (localPort === undefined || remoteAddress === undefined || !isLoopback(remoteAddress)) return false;
  if (site !== 'same-origin') return false;
  return HOSTS.some((own) =>
    SCHEMES.some((scheme) => {
      const authority = authorityOf(scheme, own, localPort);
      return host === authority && origin === `${scheme}://${authority}`;
    }),
  );
}

const HOSTS = ['127.0.0.1', '[::1]', 'localhost'] as const;
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
