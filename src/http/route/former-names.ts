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
    const formerly = route.config?.formerly;
    if (formerly === undefined) return;
    const { url, now, fields = {} } = formerly;
    const mark = (_: FastifyRequest, reply: FastifyReply, done: () => void) => {
      reply.header('deprecation', DEPRECATED_SINCE).header('link', `<${now}>; rel="successor-version"`);
      tell(url, now, 'path');
      done();
    };
    const rename = (request: FastifyRequest, _: FastifyReply, done: () => void) => {
      for (const [old, present] of Object.entries(fields)) {
        if (renameField(request, old, present)) tell(old, present, `body of ${url}`);
      }
      done();
    };
    // Behind the guard: what strangers ask for is not logged.
    route.onRequest = [...[route.onRequest ?? []].flat(), mark];
    route.preValidation = [rename, ...[route.preValidation ?? []].flat()];
  });
}

/** The name by which this client knows a field. */
export function formerNameOf(request: FastifyRequest): (field: string) => string {
  const names = RENAMED.get(request);
  return (field) => names?.[field] ?? field;
}

/** Both names at once are one too many: the former is told as unknown. */
function renameField(request: FastifyRequest, old: string, now: string): boolean {
  const { body } = request;
  if (!isMapping(body) || !Object.hasOwn(body, old) || Object.hasOwn(body, now)) return false;
  const { [old]: value, ...others } = body;
  request.body = { ...others, [now]: value };
  RENAMED.set(request, { ...RENAMED.get(request), [now]: old });
  return true;
}

/** Present name to former one. */
const RENAMED = new WeakMap<FastifyRequest, Readonly<Record<string, string>>>();

/** 2026-11-23, as a date of a structured field. */
const DEPRECATED_SINCE = '@1795392000';
