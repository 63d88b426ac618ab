import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import type { Access } from '../../../base/access/access.js';
import { hasRole, roleMissing } from '../../../base/access/caller.js';
import { ConnectionCallers } from '../../../base/access/connection-callers.js';
import { isLoopback } from '../../../base/access/loopback.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { invariant } from '../../../core/base/invariant.js';
import { PROBLEM } from '../route/answer-schemas.js';
import type { KnownPaths } from '../route/known-paths.js';
import { needs, type RouteAccess, tenantDenied } from '../route/route-access.js';
import { isThisMachine } from './caller.js';

interface GuardRules {
  readonly remoteChanges: boolean;
  readonly listensOn: string;
}

/**
 * Checks that a caller may use the route, before reading the body. The caller is found out once per connection; a later
 * request costs a comparison of its Authorization (docs/decisions/0038).
 */
export class RouteGuard {
  readonly #access: Access;
  readonly #rules: GuardRules;
  readonly #callers: ConnectionCallers;
  readonly #guards = new WeakSet<onRequestHookHandler>();

  constructor(access: Access, rules: GuardRules) {
    this.#access = access;
    this.#rules = rules;
    this.#callers = new ConnectionCallers(access, 'http', WORDS);
  }

  /** Guards all routes that are added later, and what is none. */
  guard(app: FastifyInstance, known: KnownPaths): void {
    app.decorateRequest('caller');
    app.addHook('onRoute', (route) => {
      const declared = route.config?.access;
      invariant(declared !== undefined, `${[route.method].flat()} ${route.url} does not say which role it needs`);
      describeSecurity(route, declared);
      // fastify makes HEAD from the GET route, which is guarded already.
      const hooks = [route.onRequest ?? []].flat();
      if (route.method === 'HEAD' && hooks.some((hook) => this.#guards.has(hook))) return;
      const guard: onRequestHookHandler = (request, reply, done) => this.#answer(declared, request, reply, done);
      this.#guards.add(guard);
      route.onRequest = [guard, ...hooks];
    });
    app.addHook('onRequest', (request, reply, done) => {
      // Unknown callers must not learn which routes there are.
      if (request.is404) this.#answer(ANYBODY, request, reply, (error) => done(error ?? known.refusal(request, reply)));
      else done();
    });
  }

  /** Lets a changing request in by what is known already; false leaves it to `guard`. */
  letsIn(request: IncomingMessage, { needs: need }: RouteAccess): boolean {
    if (this.#access.isOpen) return this.#whyNotChange(request) === null;
    const caller = this.#callers.known(request.socket, request.headers.authorization);
    if (caller === null || !hasRole(caller, need)) return false;
    return caller.how !== 'certificate' || this.#whyNotChange(request) === null;
  }

  #answer(declared: RouteAccess, request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    // Here, because each further hook costs every request.
    reply.header('cache-control', 'no-store');
    try {
      if (this.#access.isOpen) this.#checkOpen(declared, request);
      else if (!isOpenTo(declared, request.headers)) this.#check(declared, request);
      done();
    } catch (error) {
      if (error instanceof QuotameshError) addFields(reply, error, declared);
      done(error as Error);
    }
  }

  /** Checks access without `auth:`: the machine is the only credential. */
  #checkOpen(declared: RouteAccess, request: FastifyRequest): void {
    this.#rejectPage(declared, request);
    const { remoteAddress: address } = request.socket;
    if (!declared.changes || this.#rules.remoteChanges || isThisMachine(address)) return;
    throw new QuotameshError('CHANGE_NOT_LOCAL', { address });
  }

  #check(declared: RouteAccess, request: FastifyRequest): void {
    const { needs: need, tenantOf } = declared;
    const caller = this.#callers.of(request.socket, request.socket, request.headers.authorization);
    request.caller = caller;
    if (caller.how === 'certificate') this.#rejectPage(declared, request);
    if (!hasRole(caller, need)) {
      this.#access.count('denied', 'http');
      const what = `${request.method} ${request.url.split('?', 1)[0]?.slice(0, 200)}`;
      throw roleMissing(caller, need, what);
    }
    if (caller.tenants === null || (need !== 'operator' && need !== 'admin')) return;
    const tenant = tenantOf?.(request.params as Readonly<Record<string, unknown>>);
    if (tenant !== undefined && caller.tenants.includes(tenant)) return;
    this.#access.count('denied', 'http');
    throw tenantDenied(caller.name, caller.tenants, tenant?.slice(0, 200) ?? 'what belongs to the whole cluster');
  }

  /**
   * Rejects requests that a foreign page sends by a local browser. They carry its certificate unasked, and an Origin
   * where they may change something, which programs do not send: only a token shows that the page may. The node's own
   * page passes where the machine is the only credential.
   */
  #rejectPage(declared: RouteAccess, request: FastifyRequest): void {
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    const reason = isReading ? this.#whyNotRead(declared, request) : this.#whyNotChange(request);
    if (reason === null) return;
    this.#access.count('denied', 'http');
    throw new QuotameshError('PAGE_DENIED', { reason });
  }

  #whyNotChange({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string | null {
    const { origin } = headers;
    if (origin === undefined) return isAskedAcrossSites(headers) ? ACROSS_SITES : null;
    if (this.#access.isOpen && isOwnPage(headers, socket, this.#rules.listensOn)) return null;
    return `pages of ${origin.slice(0, 200)} may only look`;
  }

  #whyNotRead(declared: RouteAccess, { headers, socket }: FastifyRequest): string | null {
    if (isOpenTo(declared, headers)) return null;
    // A page may open a link by itself and so act for an operator.
    if (isAskedAcrossSites(headers) && (declared.needs === 'operator' || !isLinkFollowed(headers))) return ACROSS_SITES;
    if (!this.#access.isOpen || !isReboundName(headers, socket.remoteAddress)) return null;
    return `to a browser of this machine ${headers.host?.slice(0, 200)} is no name of this node`;
  }
}

const WORDS = {
  noToken: 'Authorization is no Bearer token',
  noProof: 'there is no Authorization field',
  noAddress: 'unix socket',
};
const ANYBODY = needs('any');

const ACROSS_SITES = 'the browser says that a page of another site asks';

function isOpenTo({ needs: need, isOpenTo: isOpen }: RouteAccess, headers: IncomingHttpHeaders): boolean {
  return need === 'open' || isOpen?.(headers) === true;
}

/** Adds WWW-Authenticate (RFC 9110 §11.6.1, RFC 6750 §3). */
function addFields(reply: FastifyReply, { code, facts }: QuotameshError, { needs: need }: RouteAccess): void {
  if (code === 'AUTH_FAILED') reply.header('www-authenticate', 'Bearer realm="quotamesh"');
  if (code === 'AUTH_LIMITED') reply.header('retry-after', facts.retryAfterS);
  if (code !== 'ROLE_MISSING') return;
  reply.header('www-authenticate', `Bearer realm="quotamesh", error="insufficient_scope", scope="${need}"`);
}

/** Lists the roles behind the name of a scheme for OpenAPI. */
function describeSecurity(route: RouteOptions, { needs: need }: RouteAccess): void {
  if (route.schema === undefined || route.schema.hide === true) return;
  const roles = need === 'any' ? [] : [need];
  const security = need === 'open' ? [] : [{ bearer: roles }, { clientCertificate: roles }];
  const answers = route.schema.response as Readonly<Record<number, unknown>> | undefined;
  const refusal = answers?.[403] ?? PROBLEM;
  const refusals = need === 'open' ? {} : { 401: refusal, 403: refusal, 429: refusal };
  route.schema = { ...route.schema, security, response: { ...refusals, ...answers } };
}

/** Schemes by which callers identify themselves, for the OpenAPI document. */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token of auth.tokens. Without `auth:` in the configuration nothing is asked for (docs/operate/access.md).',
  },
  clientCertificate: {
    type: 'mutualTLS',
    description: 'A client certificate that a rule of auth.certificates matches.',
  },
} as const;

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
function isAskedAcrossSites({ 'sec-fetch-site': site }: PageHeaders): boolean {
  return site === 'cross-site' || site === 'same-site';
}

/** Detects a followed link: its answer is a page of its own, in no frame. */
function isLinkFollowed({ 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }: PageHeaders): boolean {
  return mode === 'navigate' && dest === 'document';
}

/**
 * Detects a local browser that asks by a name others could own. A page whose own name leads here (DNS rebinding) is of
 * the node's origin and sends no sign of it. Browsers are known by Accept-Language, which a page can change and not
 * leave out; to trusted hosts, which such a name never is, they add Sec-Fetch-Mode, and so do some programs.
 */
function isReboundName(headers: PageHeaders, remoteAddress: string | undefined): boolean {
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
