import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isMapping } from '../../input/mapping.js';
import type { Telemetry } from '../../ports/telemetry.js';

/**
 * Routes under a former path, and fields under a former name (route.ts), work as before. The answer says that they are
 * deprecated (RFC 9745), and a process logs each of them once. To be called before the routes are added.
 */
export function takeFormerNames(app: FastifyInstance, telemetry: Telemetry): void {
  const logged = new Set<string>();
  const tell = (old: string, now: string, where: string) => {
    if (logged.has(old)) return;
    logged.add(old);
    telemetry.log('warn', 'an old name is used', { old, now, where });
  };
  app.addHook('onRoute', (route) => {
    const { formerPath, formerFields = {} } = route.config ?? {};
    if (formerPath === undefined) return;
    const { url, now } = formerPath;
    const mark = (_: FastifyRequest, reply: FastifyReply, done: () => void) => {
      reply.header('deprecation', DEPRECATED_SINCE).header('link', `<${now}>; rel="successor-version"`);
      tell(url, now, 'path');
      done();
    };
    const rename = (request: FastifyRequest, _: FastifyReply, done: () => void) => {
      for (const [old, present] of Object.entries(formerFields)) {
        if (renameField(request, old, present)) tell(old, present, `body of ${url}`);
      }
      done();
    };
    // Behind the guard: what strangers ask for is not logged.
    route.onRequest = [...[route.onRequest ?? []].flat(), mark];
    route.preValidation = [rename, ...[route.preValidation ?? []].flat()];
  });
}

/** What the client of one request calls the fields of its body, so that it is told of mistakes by these names. */
export interface ClientNames {
  /** The name that was sent; where nothing was sent under a former path, the former name. */
  readonly nameOf: (field: string) => string;
  /** What is called `name` no longer has this name; undefined = `name` is no former name. */
  readonly presentOf: (name: string) => string | undefined;
}

export function clientNames(request: FastifyRequest): ClientNames {
  const { formerFields = {} } = request.routeOptions.config;
  const former = FORMER_NAMES.get(request);
  return {
    nameOf: (field) => former?.get(field) ?? field,
    presentOf: (name) => (Object.hasOwn(formerFields, name) ? formerFields[name] : undefined),
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
  FORMER_NAMES.set(request, new Map(FORMER_NAMES.get(request)).set(now, old));
  if (!Object.hasOwn(body, old)) return false;
  const { [old]: value, ...others } = body;
  request.body = { ...others, [now]: value };
  return true;
}

/** Present name to the former one by which the client knows the field. */
const FORMER_NAMES = new WeakMap<FastifyRequest, ReadonlyMap<string, string>>();

/** 2026-11-23, as a date of a structured field. */
const DEPRECATED_SINCE = '@1795392000';
