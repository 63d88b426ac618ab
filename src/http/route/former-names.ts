import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isMapping } from '../../input/mapping.js';
import type { Telemetry } from '../../ports/telemetry.js';

/**
 * Routes under a former path, and fields and query parameters under a former name (route.ts), work as before. A process
 * logs each of them once, and the answer under a former path says that it is deprecated (RFC 9745). To be called before
 * the routes are added.
 */
export function takeFormerNames(app: FastifyInstance, telemetry: Telemetry): void {
  const logged = new Set<string>();
  const tell = (old: string, now: string, where: string) => {
    if (logged.has(old)) return;
    logged.add(old);
    telemetry.log('warn', 'an old name is used', { old, now, where });
  };
  app.addHook('onRoute', (route) => {
    const { formerPath, formerFields = {}, formerParameters } = route.config ?? {};
    const renameFirst = (renamePart: typeof renameField, names: Readonly<Record<string, string>>, where: string) => {
      const rename = (request: FastifyRequest, _: FastifyReply, done: () => void) => {
        for (const [old, present] of Object.entries(names)) {
          if (renamePart(request, old, present)) tell(old, present, where);
        }
        done();
      };
      route.preValidation = [rename, ...[route.preValidation ?? []].flat()];
    };
    if (formerParameters !== undefined) renameFirst(renameParameter, formerParameters, `query of ${route.url}`);
    if (formerPath === undefined) return;
    const { url, now } = formerPath;
    const mark = (_: FastifyRequest, reply: FastifyReply, done: () => void) => {
      reply.header('deprecation', DEPRECATED_SINCE).header('link', `<${now}>; rel="successor-version"`);
      tell(url, now, 'path');
      done();
    };
    // Behind the guard: what strangers ask for is not logged.
    route.onRequest = [...[route.onRequest ?? []].flat(), mark];
    renameFirst(renameField, formerFields, `body of ${url}`);
  });
}

/** What a client has called the fields of its body, or of its query, so that it is told of mistakes by these names. */
export interface ClientNames {
  /** The name that was sent; where nothing was sent under a former path, the former name. */
  readonly nameOf: (field: string) => string;
  /** What is called `name` no longer has this name; undefined = `name` is no former name. */
  readonly presentOf: (name: string) => string | undefined;
}

export function clientNames(request: FastifyRequest, part: 'body' | 'query'): ClientNames {
  const { formerFields = {}, formerParameters = {} } = request.routeOptions.config;
  const presentNames = part === 'body' ? formerFields : formerParameters;
  const former = FORMER_NAMES.get(request);
  return {
    nameOf: (field) => former?.get(field) ?? field,
    presentOf: (name) => (Object.hasOwn(presentNames, name) ? presentNames[name] : undefined),
  };
}

/** Tells a client that is told of mistakes by former names what these are called now; '' where it used none. */
export function presentNamesText(request: FastifyRequest): string {
  const former = [...(FORMER_NAMES.get(request) ?? [])];
  return former.map(([now, old]) => ` The field ${old} is called ${now} now.`).join('');
}

/**
 * Returns whether the client has sent the former name. Both names at once are one too many: the former name stays in
 * the body, and is told as unknown.
 */
function renameField(request: FastifyRequest, old: string, now: string): boolean {
  const { body } = request;
  if (!isMapping(body) || Object.hasOwn(body, now)) return false;
  noteFormerName(request, old, now);
  if (!Object.hasOwn(body, old)) return false;
  const { [old]: value, ...others } = body;
  request.body = { ...others, [now]: value };
  return true;
}

/** As renameField, but under the present path: there only what was sent tells that the client knows the former name. */
function renameParameter(request: FastifyRequest, old: string, now: string): boolean {
  const { query } = request;
  if (!isMapping(query) || Object.hasOwn(query, now) || !Object.hasOwn(query, old)) return false;
  noteFormerName(request, old, now);
  const { [old]: value, ...others } = query;
  request.query = { ...others, [now]: value };
  return true;
}

function noteFormerName(request: FastifyRequest, old: string, now: string): void {
  FORMER_NAMES.set(request, new Map(FORMER_NAMES.get(request)).set(now, old));
}

/** Present name to the former one by which the client knows the field. */
const FORMER_NAMES = new WeakMap<FastifyRequest, ReadonlyMap<string, string>>();

/** 2026-11-23, as a date of a structured field. */
const DEPRECATED_SINCE = '@1795392000';
