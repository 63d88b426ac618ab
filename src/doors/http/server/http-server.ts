import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import { type FastifyInstance, fastify } from 'fastify';
import type { Access } from '../../../base/access/access.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { VERSION } from '../../../base/package/version.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { EnvoyStatus } from '../../envoy/envoy-status.js';
import type { KeeperStatus } from '../../kafka-quotas/keeper-status.js';
import type { MqttStatus } from '../../mqtt/mqtt-status.js';
import { RouteGuard, SECURITY_SCHEMES } from '../access/route-guard.js';
import { AcquireAnswers, type AcquireOutcomes } from '../acquire/acquire-answers.js';
import { ACQUIRE_PATH } from '../acquire/acquire-body.js';
import { ACQUIRE_ACCESS, addAcquireRoute, plainAcquire } from '../acquire/acquire-route.js';
import { addBulkRoute, BULK_PATH, plainBulk } from '../acquire/bulk-route.js';
import { addEnforceRoutes } from '../acquire/enforce-route.js';
import { OpenReservations } from '../acquire/open-reservations.js';
import { addReservationRoutes } from '../acquire/reservation-routes.js';
import { ShortWay } from '../acquire/short-way.js';
import { addTakeRoutes } from '../acquire/take-routes.js';
import { ConnectionBounds } from '../connections/connection-bounds.js';
import { addAttachmentRoutes } from '../groups/attachment-routes.js';
import { addAuditRoute } from '../groups/audit-route.js';
import { addBudgetRoutes } from '../groups/budget-route.js';
import { addBatchRoute, addGroupRoutes } from '../groups/group-routes.js';
import { addKeyRoutes } from '../groups/key-routes.js';
import { addPulsarRoutes } from '../groups/pulsar-routes.js';
import { KnownPaths } from '../route/known-paths.js';
import { toOpenApi } from '../route/openapi.js';
import { PROBLEM_MEDIA_TYPE, unfitBody } from '../route/problem.js';
import { OpenSlots } from '../slots/open-slots.js';
import { addSlotRoutes } from '../slots/slot-routes.js';
import {
  addEnvoyRoute,
  addHealthRoutes,
  addInfoRoutes,
  addKafkaQuotasRoute,
  addMqttRoute,
  type MetricsPage,
} from '../status/info-routes.js';
import { addLiveRoutes, addRecordingRoute } from '../status/live-routes.js';
import { addStatusRoutes } from '../status/status-routes.js';
import { addTargetRoutes } from '../status/target-routes.js';
import { errorHandler, PATH_NAME_MAX } from './error-handler.js';
import { guardChanges } from './guarded-changes.js';
import { listenerOf, listenOnSocket, measureAnswers } from './listener.js';
import { refuseEncodedBodies, takeEmptyBodies } from './unfit-requests.js';

export interface HttpServerParts {
  readonly node: NodeParts;
  readonly access: Access;
  readonly telemetry: Telemetry;
  readonly metrics: MetricsPage;
  readonly outcomes: AcquireOutcomes;
  readonly mqtt?: (() => MqttStatus) | undefined;
  readonly kafkaQuotas?: (() => KeeperStatus) | undefined;
  readonly envoy?: (() => EnvoyStatus) | undefined;
}

/** Builds the one HTTP server of a node; it does not listen yet. */
export async function createHttpServer(parts: HttpServerParts): Promise<FastifyInstance> {
  const { node, metrics, outcomes, access, telemetry } = parts;
  const { config, clock } = node;
  const handleError = errorHandler(telemetry);
  const bounds = new ConnectionBounds({ http: config.http, clock, telemetry, counts: outcomes.connections });
  const guard = new RouteGuard(access, { ...config.registry, listensOn: config.http.host });
  const answers = new AcquireAnswers(node, outcomes);
  const routes = { [ACQUIRE_PATH]: plainAcquire(node, answers), [BULK_PATH]: plainBulk({ node, outcomes }) };
  const shortWay = new ShortWay({ guard, access: ACQUIRE_ACCESS, bounds, routes });
  const app = fastify({
    ...listenerOf(config.http, bounds, shortWay),
    bodyLimit: config.http.bodyLimitBytes,
    // A stopping node answers with the catalogue's problem instead.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PATH_NAME_MAX },
    frameworkErrors: handleError,
    clientErrorHandler: answerBrokenRequests,
    schemaController: { compilersFactory: COMPILERS },
  }) as FastifyInstance;
  app.removeContentTypeParser('text/plain');
  takeEmptyBodies(app);
  refuseEncodedBodies(app);
  app.setErrorHandler(handleError);
  measureAnswers(app, bounds);
  shortWay.endWith(app);
  const known = new KnownPaths(app);
  guard.guard(app, known);
  const reservations = openReservations(app, parts);
  await app.register(swagger, { openapi: OPENAPI as object, transform: toOpenApi });
  guardChanges(app, node, telemetry);
  addAcquireRoute(app, { node, outcomes, handleError, reservations, answers, shortWay });
  addBulkRoute(app, { node, outcomes, handleError, reservations, shortWay });
  addReservationRoutes(app, node, reservations);
  addSlotRoutes(app, node, outcomes, openSlots(app, parts));
  addTakeRoutes(app, node, outcomes);
  addEnforceRoutes(app, node);
  addStatusRoutes(app, node, access);
  addLiveRoutes(app, node, access, telemetry);
  addRecordingRoute(app, node);
  addRegistryRoutes(app, node);
  addTargetRoutes(app, node);
  addHealthRoutes(app, node);
  if (parts.mqtt !== undefined) addMqttRoute(app, parts.mqtt);
  if (parts.kafkaQuotas !== undefined) addKafkaQuotasRoute(app, parts.kafkaQuotas);
  if (parts.envoy !== undefined) addEnvoyRoute(app, parts.envoy);
  addInfoRoutes(app, node, metrics, known);
  return app;
}

/** Replaces two compilers of fastify that no route needs (route/route.ts). They are a third of the server's code. */
const COMPILERS = { buildValidator: unchecked, buildSerializer: () => () => JSON.stringify };

function unchecked(): never {
  throw new Error('a route with a schema has no validatorCompiler');
}

function addRegistryRoutes(app: FastifyInstance, node: NodeParts): void {
  addGroupRoutes(app, node);
  addBudgetRoutes(app, node);
  addBatchRoute(app, node);
  addKeyRoutes(app, node);
  addAttachmentRoutes(app, node);
  addAuditRoute(app, node);
  addPulsarRoutes(app, node);
}

/** Expires reservations four times within `reservationMs`, at least every second. */
function openReservations(app: FastifyInstance, { node, telemetry, outcomes }: HttpServerParts): OpenReservations {
  const reservations = new OpenReservations(node, telemetry, outcomes.reservations);
  const sweep = setInterval(() => reservations.expire(), Math.min(1000, node.config.limits.reservationMs / 4));
  sweep.unref();
  app.addHook('onClose', async () => clearInterval(sweep));
  return reservations;
}

/** Ends leases of slots that are over, soon after. */
function openSlots(app: FastifyInstance, { node: { config, clock }, outcomes }: HttpServerParts): OpenSlots {
  const slots = new OpenSlots({
    nodeId: config.nodeId,
    clock,
    max: config.limits.maxReservations,
    counts: outcomes.slots,
  });
  const sweep = setInterval(() => slots.expire(), LEASE_SWEEP_MS).unref();
  app.addHook('onClose', async () => clearInterval(sweep));
  return slots;
}

const LEASE_SWEEP_MS = 100;

/** Listens by configuration; resolves with the real URL, or `unix:PATH`. */
export async function listen(app: FastifyInstance, { config }: NodeParts): Promise<string> {
  const { host, port, socket, socketAccess } = config.http;
  try {
    if (socket !== null) return await listenOnSocket(app, socket, socketAccess);
    return await app.listen({ host, port });
  } catch (error) {
    const address = socket ?? `${host.includes(':') ? `[${host}]` : host}:${port}`;
    throw new QuotameshError('ADDRESS_IN_USE', { address, reason: (error as Error).message }, { cause: error });
  }
}

/** Answers what has arrived, then closes; cuts incomplete requests after `graceMs`. */
export async function closeHttp(app: FastifyInstance, graceMs: number): Promise<void> {
  const { server } = app;
  // The server closes only connections that are idle at once.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(cut);
  }
}

const IDLE_CHECK_MS = 20;

const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'quotamesh',
    version: VERSION,
    description:
      'Cluster-wide quotas with local decisions. Every error is problem+json (RFC 9457) with a code and a remedy.',
  },
  components: { securitySchemes: SECURITY_SCHEMES },
};

/** Answers what is no HTTP, or too slow, on the socket; ends it. */
function answerBrokenRequests(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, phrase, reason] = ANSWERS[error.code ?? ''] ?? BAD_REQUEST;
  const body = unfitBody(status, phrase, reason);
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    `content-type: ${PROBLEM_MEDIA_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

const BAD_REQUEST = [400, 'Bad Request', 'this is no HTTP request'] as const;

const ANSWERS: Readonly<Record<string, readonly [number, string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the header fields are too large'],
};
