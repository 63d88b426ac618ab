import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import { GroupsRefused } from '../../../node/groups/changes/put-groups.js';
import { PULSAR_PREFIX } from '../groups/pulsar-routes.js';
import { InvalidInput } from '../route/invalid-input.js';
import { type ErrorHandler, PROBLEM_MEDIA_TYPE, problemOf } from '../route/problem.js';

/** Most characters of a name in a path, percent-encoded. */
export const PATH_NAME_MAX = 5000;

/** Answers every failure as problem+json from the catalogue; logs unforeseen ones once per answer. */
export function errorHandler(telemetry: Telemetry): ErrorHandler {
  return (error, request, reply) => {
    const known = knownError(error, request);
    if (known.code === 'UNEXPECTED') {
      const stack = error instanceof Error ? error.stack : undefined;
      telemetry.log('error', 'request failed', { method: request.method, route: request.routeOptions.url, stack });
    }
    sendError(reply, known);
  };
}

function sendError(reply: FastifyReply, error: QuotameshError): void {
  const errors = error instanceof GroupsRefused ? { errors: error.errors } : {};
  const problem = { ...problemOf(error), ...errors };
  if (reply.request.url.startsWith(PULSAR_PREFIX)) {
    // `reason` is for Pulsar's admin client, the rest for people.
    reply.code(problem.status).header('content-type', 'application/json; charset=utf-8');
    reply.send(JSON.stringify({ reason: reasonOf(error), ...problem }));
    return;
  }
  reply.code(problem.status).header('content-type', PROBLEM_MEDIA_TYPE).send(JSON.stringify(problem));
}

/** Uses Pulsar's own words where they are as good. */
function reasonOf({ code, message, advice }: QuotameshError): string {
  if (code === 'GROUP_UNKNOWN' || code === 'ATTACHMENT_DANGLING') return `ResourceGroup does not exist: ${message}`;
  return advice;
}

export function knownError(error: unknown, request: FastifyRequest): QuotameshError {
  if (error instanceof QuotameshError) return error;
  if (error instanceof InvalidInput) return toldOf(error, request);
  const failure = error as Partial<FastifyError>;
  const made = failure.code === undefined ? undefined : FASTIFY_ERRORS[failure.code];
  if (made !== undefined) return made(failure, request);
  return new QuotameshError('UNEXPECTED', { reason: failure.message ?? String(error) }, { cause: error });
}

/** Adds what was sent: fastify gives a validator null where there is nothing. */
function toldOf(error: InvalidInput, request: FastifyRequest): QuotameshError {
  if (error.validationContext === 'querystring') {
    return error.told({ sent: request.query, part: 'query' });
  }
  const params = request.params as Readonly<Record<string, unknown>>;
  return error.told({ sent: request.body, part: 'body', params });
}

type ErrorMaker = (failure: Partial<FastifyError>, request: FastifyRequest) => QuotameshError;

const FASTIFY_ERRORS: Readonly<Record<string, ErrorMaker>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: () =>
    new QuotameshError('BODY_INVALID', {
      reason: 'the body is not valid JSON, or has a key that is not allowed anywhere (__proto__, constructor)',
    }),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new QuotameshError('BODY_INVALID', { reason: 'the body is empty' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new QuotameshError('BODY_INVALID', { reason: 'the body is not as long as Content-Length says' }),
  // A client that hung up amid its body reads no answer: nothing is wrong here.
  ECONNRESET: () => new QuotameshError('BODY_INVALID', { reason: 'the connection ended before the body did' }),
  FST_ERR_CTP_BODY_TOO_LARGE: (_, request) =>
    new QuotameshError('BODY_TOO_LARGE', { limit: request.routeOptions.bodyLimit }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (_, request) =>
    new QuotameshError('MEDIA_TYPE_UNSUPPORTED', { mediaType: request.headers['content-type'] ?? '(none)' }),
  FST_ERR_BAD_URL: () => new QuotameshError('REQUEST_INVALID', { reason: 'the path is not a valid URL path' }),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new QuotameshError('REQUEST_INVALID', { reason: `a name in the path is longer than ${PATH_NAME_MAX} characters` }),
};
