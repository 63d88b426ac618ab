import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Access } from '../../../base/access/access.js';
import { renewTls } from '../../../base/access/listener-tls.js';
import { EXIT_OK, EXIT_UNEXPECTED } from '../../../base/errors/error-row.js';
import { messageOf } from '../../../base/errors/quotamesh-error.js';
import { VERSION } from '../../../base/package/version.js';
import { describeConfig } from '../../../config/describe/describe-config.js';
import { configStamp, filesStamp } from '../../../config/files/config-files.js';
import { loadConfigAside } from '../../../config/files/load-aside.js';
import { type LoadOptions, loadConfig } from '../../../config/files/load-config.js';
import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import type { EnvoyDoor } from '../../../doors/envoy/envoy-door.js';
import { createEnvoy, openRules, type RuleSource } from '../../../doors/envoy/open-envoy.js';
import { closeHttp, listen } from '../../../doors/http/server/http-server.js';
import type { QuotaKeeper } from '../../../doors/kafka-quotas/quota-keeper.js';
import { assembleHttp } from '../../../doors/library/embedded-http.js';
import type { MqttBroker } from '../../../doors/mqtt/mqtt-broker.js';
import { mqttStatus } from '../../../doors/mqtt/mqtt-status.js';
import { attachWhereRegistered } from '../../../doors/opentelemetry/registered-api.js';
import { createNodeLog, type NodeLog } from '../../../doors/telemetry/node-log.js';
import { ConfigWatch } from '../../../node/groups/yaml/config-watch.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { createKeeperTopic } from '../../../node/loop/open-topics.js';
import { assembleNode } from '../../../node/loop/start-node.js';
import { describeError, exitCodeOf } from '../../terminal/exit.js';
import { guardProcess } from './guard-process.js';
import { hideSecretsOf } from './hide-secrets.js';
import type { KafkaQuotasOptions } from './kafka-quotas-command.js';
import type { MqttOptions } from './mqtt-command.js';
import type { RunOptions } from './run-command.js';

/** `quotamesh run`: runs one node until a signal or a failure. */
export async function runNode(options: RunOptions): Promise<void> {
  await serve(options, async () => ({ broker: null, keeper: null }));
}

/** `quotamesh kafka-quotas`: runs a node with a keeper of Kafka's client quotas. */
export async function runKafkaQuotas(options: KafkaQuotasOptions): Promise<void> {
  await serve(options, async ({ config, clock, groups, templates }, log) => {
    const { topic, kafka } = await createKeeperTopic(config, log);
    const { QuotaKeeper } = await import('../../../doors/kafka-quotas/quota-keeper.js');
    const { ClientQuotaAdmin } = await import('../../../topic/kafka/client-quota-admin.js');
    const admin = new ClientQuotaAdmin(kafka, (level, message, facts) => log.log(level, message, facts));
    const parts = { config, topic, admin, groups, templates, clock, telemetry: log };
    return { broker: null, keeper: new QuotaKeeper({ ...parts, adopts: options.adopt === true }) };
  });
}

/** `quotamesh mqtt`: runs a node with an MQTT broker. */
export async function runMqtt(options: MqttOptions): Promise<void> {
  await serve(options, async (node, log, access) => {
    const { MqttBroker } = await import('../../../doors/mqtt/mqtt-broker.js');
    return { broker: new MqttBroker(node, log, access), keeper: null };
  });
}

/** Reads the configuration; null = it is printed, which was all. */
async function configOf(options: MqttOptions): Promise<ResolvedConfig | null> {
  const config = await loadConfig(loadOptions(options));
  hideSecretsOf(config);
  if (options.printConfig !== true) return config;
  process.stdout.write(describeConfig(config));
  return null;
}

function loadOptions({ config: file, node: nodeId, http, mqtt }: MqttOptions): LoadOptions {
  return { file, env: { ...process.env }, overrides: { nodeId, http, mqtt } };
}

interface Beside {
  readonly broker: MqttBroker | null;
  readonly keeper: QuotaKeeper | null;
}

type CreateBeside = (node: NodeParts, log: NodeLog, access: Access) => Promise<Beside>;

async function serve(options: MqttOptions, createBeside: CreateBeside): Promise<void> {
  const stamp = configStamp(options.config);
  const config = await configOf(options);
  if (config === null) return;
  const log = createNodeLog(config);
  const incidents = guardProcess(log);
  let close = async (): Promise<void> => undefined;
  const stop = stopOnSignals(log, () => close());
  // With an IPC channel, as of `quotamesh demo`, the parent's end, even by kill -9, ends the node.
  const stopAlone = () => {
    if (stop.begun) return;
    log.log('info', 'stopping', { reason: 'the parent process is gone' });
    void stop.now(EXIT_OK);
  };
  process.once('disconnect', stopAlone);
  stopWithNpm(stopAlone);
  log.log('info', 'starting', { version: VERSION, source: config.source, topic: config.topic.kind });
  try {
    const rules = await openRules(config, log);
    const node = await assembleNode(rules?.book.config ?? config, log);
    const access = new Access(config.auth, node.clock, log);
    const { broker, keeper } = await createBeside(node, log, access);
    const { door: envoy, status } = await createEnvoy({ node, access, rules, telemetry: log });
    const mqtt = broker === null ? undefined : () => mqttStatus(broker);
    const kafkaQuotas = keeper === null ? undefined : () => keeper.status;
    const shown = { mqtt, kafkaQuotas, envoy: status };
    const { app, sources } = await assembleHttp({ node, access, telemetry: log, incidents, ...shown });
    await attachWhereRegistered(sources, log);
    const reloaded = { node, access, app, broker, envoy, rules };
    const watch = watchConfig(reloaded, log, options, stamp + filesStamp(config.files));
    close = async () => {
      watch.close();
      await Promise.all([broker?.close(), keeper?.close(), envoy?.close(), rules?.close()]);
      await node.life.close().finally(() => closeHttp(app, HTTP_GRACE_MS));
    };
    node.life.onFenced = (error) => void stop.now(exitCodeOf(error));
    // Before the topic: liveness counts from the first second, and a topic that is away is no death.
    log.log('info', 'http listening', { url: await listen(app, node) });
    if (access.isOpen && config.insecure) log.log('warn', 'insecure: whoever reaches a listener has every role');
    if (broker !== null) log.log('info', 'mqtt listening', { url: await broker.listen() });
    if (envoy !== null) log.log('info', 'envoy listening', { url: await envoy.listen() });
    await Promise.all([node.life.start(), keeper?.start()]);
  } catch (error) {
    // A signal during the opening is the cause, and no failure.
    if (stop.begun) return;
    log.fatal('cannot start', { reason: messageOf(error) });
    process.stderr.write(`quotamesh: ${describeError(error)}\n`);
    await stop.now(exitCodeOf(error));
  }
}

interface Reloaded {
  readonly node: NodeParts;
  readonly access: Access;
  readonly app: FastifyInstance;
  readonly broker: MqttBroker | null;
  readonly envoy: EnvoyDoor | null;
  readonly rules: RuleSource | null;
}

/** Lets groups, tokens and certificates follow the files; SIGHUP reads them at once. */
function watchConfig(
  { node, access, app, broker, envoy, rules }: Reloaded,
  log: NodeLog,
  options: MqttOptions,
  stamp: string,
): ConfigWatch {
  let { files } = node.config;
  const reload = async () => {
    try {
      const config = await loadConfigAside(loadOptions(options));
      files = config.files;
      log.hide(config);
      hideSecretsOf(config);
      renewTls(app.server, config.http.tls);
      access.take(config.auth);
      rules?.renew(config);
      broker?.renewTls(config.mqtt.tls);
      envoy?.renewTls(config.envoy.tls);
      broker?.checkLogins();
      node.yaml.take(rules?.book.rebased(config) ?? config);
    } catch (error) {
      node.yaml.refuse(error);
    }
  };
  const watch = new ConfigWatch({ path: options.config, besides: () => files, stamp, reload });
  process.on('SIGHUP', () => {
    log.log('info', 'reading the configuration again', { signal: 'SIGHUP' });
    void watch.readNow();
    void rules?.readNow();
  });
  watch.start();
  rules?.start(node.yaml);
  return watch;
}

/** Milliseconds for unfinished requests at the stop; answers take microseconds. */
const HTTP_GRACE_MS = 500;

interface Stop {
  readonly begun: boolean;
  /** Stops in order and ends the process. */
  now(exitCode: number): Promise<never>;
}

/**
 * Stops in order at SIGTERM and SIGINT, exit code 0. A second signal after more than a second ends the process at once,
 * with 128 + its number; an earlier one is the same Ctrl-C twice (from terminal and parent).
 */
function stopOnSignals(log: NodeLog, close: () => Promise<void>): Stop {
  let stopping: Promise<never> | null = null;
  let firstMs = 0;
  const stop: Stop = {
    get begun() {
      return stopping !== null;
    },
    now: (exitCode) => {
      stopping ??= stopInOrder(log, close, exitCode);
      return stopping;
    },
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping === null) {
        firstMs = performance.now();
        log.log('info', 'stopping', { signal });
        void stop.now(EXIT_OK);
      } else if (performance.now() - firstMs > SAME_SIGNAL_MS) {
        endAtOnce(signal);
      }
    });
  }
  return stop;
}

const SAME_SIGNAL_MS = 1000;

/**
 * Ends by the signal itself: `process.exit` waits for libuv's threads, one of which may hang. Process 1 of a container,
 * immune to its signals, exits.
 */
function endAtOnce(signal: 'SIGTERM' | 'SIGINT'): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(128 + constants.signals[signal]);
}

/** Milliseconds for the unforeseen; closing's parts are bounded (Envoy 2 s, farewell 1.5 s, topic 2 s, HTTP 0.5 s). */
const STOP_TIMEOUT_MS = 6300;
const LOG_TIMEOUT_MS = 400;

/** Milliseconds that supervisors must wait before a kill. The units of deploy/ do. */
export const STOP_WITHIN_MS = STOP_TIMEOUT_MS + LOG_TIMEOUT_MS;

async function stopInOrder(log: NodeLog, close: () => Promise<void>, exitCode: number): Promise<never> {
  let code = exitCode;
  const timeout = sleep(STOP_TIMEOUT_MS).then(() => {
    throw new Error(`not closed within ${STOP_TIMEOUT_MS} ms`);
  });
  try {
    await Promise.race([close(), timeout]);
    log.log('info', 'stopped');
  } catch (error) {
    code = code === EXIT_OK ? EXIT_UNEXPECTED : code;
    log.log('error', 'closing failed', { reason: messageOf(error) });
  }
  await log.close(LOG_TIMEOUT_MS);
  return process.exit(code);
}

/** Milliseconds between looks for the parent; more notices its end later. */
const LOOK_MS = 200;

/**
 * Stops a node of npm whose parent is gone. `npx quotamesh run` runs it below a shell, which ends at SIGTERM without
 * passing it on: the node would keep its port and share. Nodes started otherwise (nohup, a daemon) outlive parents on
 * purpose.
 */
function stopWithNpm(stop: () => void): void {
  if (process.env.npm_command === undefined) return;
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    stop();
  }, LOOK_MS);
  look.unref();
}
