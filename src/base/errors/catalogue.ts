import { ACCESS_ERRORS } from './access.js';
import { BATCH_ERRORS } from './batches.js';
import { type ErrorRow, EXIT_CONFIG, EXIT_UNAVAILABLE, EXIT_UNEXPECTED, EXIT_USAGE } from './error-row.js';
import { GROUP_ERRORS } from './groups.js';
import { GRPC_ERRORS } from './grpc.js';
import { HTTP_ERRORS } from './http.js';
import { SLOT_ERRORS } from './slots.js';

export const ERROR_CATALOGUE = {
  CONFIG_INVALID: {
    message: '{file}: {count} mistake(s) in the configuration',
    remedy: 'Correct the lines named above; `quotamesh check FILE` checks without starting.',
    exitCode: EXIT_CONFIG,
  },
  RULES_INVALID: {
    message: '{file}: {count} mistake(s) in the rules of Envoy',
    remedy: 'Correct the lines named above; `quotamesh envoy check FILE` checks without starting.',
    exitCode: EXIT_CONFIG,
  },
  OPTIONS_INVALID: {
    message: '{of}{field} {reason}',
    remedy:
      'Pass what docs/guide lists: embedding.md for createNode, node-services.md for quota(), stores.md for a store. It is a mistake of the program, not of its clients.',
  },
  OPENTELEMETRY_TOO_OLD: {
    message:
      'the OpenTelemetry SDK of this process was registered with @opentelemetry/api {version}, older than {oldest}',
    remedy: 'Update @opentelemetry/api and the SDK, or do not attach OpenTelemetry (docs/guide/opentelemetry.md).',
  },
  TELEMETRY_FAILED: {
    message: 'telemetry.{method} failed: {reason}',
    remedy: 'Mend what the telemetry of createNode does; the node goes on, and counts lost lines in telemetryFailures.',
  },
  CALLBACK_FAILED: {
    message: '{callback} failed: {reason}',
    remedy: 'Mend what the function does that your program has set there; the node goes on as if it had returned.',
  },
  CONFIG_UNREADABLE: {
    message: 'cannot read {file}: {reason}',
    remedy: 'Check the path and its permissions.',
    exitCode: EXIT_CONFIG,
  },
  TRACE_INVALID: {
    message: '{location}: {field} {problem}; allowed: {allowed}',
    remedy: 'Correct the line or the flag; `quotamesh sim replay --help` explains the flags.',
    exitCode: EXIT_CONFIG,
  },
  RECORDING_UNREADABLE: {
    message: '{file} cannot be read as a recording: {reason}',
    remedy: 'Replay a file that `quotamesh record` of this version has written.',
    exitCode: EXIT_CONFIG,
  },
  USAGE: { message: '{reason}', remedy: 'See --help of the command.', exitCode: EXIT_USAGE },
  ASKED_WRONG: { message: '{reason}', remedy: '{advice}', exitCode: EXIT_USAGE },
  FILE_UNWRITABLE: {
    message: 'cannot write {path}: {reason}',
    remedy: 'Check the path, its permissions and the space of the disk; a recording needs a new file.',
    exitCode: EXIT_CONFIG,
  },
  FILE_EXISTS: {
    message: '{path} is there already; nothing is written',
    remedy: 'Name another file, or let --force replace it.',
    exitCode: EXIT_USAGE,
  },
  CHECK_TIMED_OUT: {
    message: '{about}: no answer within {timeoutMs} ms',
    remedy: 'Look at what lies between this machine and it: names, routes, firewalls. --timeout waits longer.',
    exitCode: EXIT_UNAVAILABLE,
  },
  NODE_JS_OLD: {
    message: 'Node.js {found} is older than {wanted}',
    remedy: 'Install Node.js {wanted} or newer: older ones lack what quotamesh uses.',
    exitCode: EXIT_CONFIG,
  },
  BROKER_UNREACHABLE: {
    message: 'broker {broker}, which Kafka names to its clients, cannot be reached: {reason}',
    remedy: 'Let advertised.listeners of the broker name an address that this machine reaches.',
    exitCode: EXIT_UNAVAILABLE,
  },
  CLOCK_BEHIND: {
    message: 'the clock of this machine is at least {behindMs} ms behind that of broker {broker}',
    remedy:
      'Let both follow time servers (`timedatectl`). Tokens, certificates and logs depend on the clock; shares do not.',
  },
  TOPIC_THROTTLED: {
    message: 'broker {broker} throttles {client} by a client quota ({quota})',
    remedy: 'Give the nodes a quota of their own, which outranks every default: `{command}`.',
  },
  KAFKA_QUOTA_HOLDS: {
    message: 'a default client quota of Kafka holds for this node ({client}): {quotas}',
    remedy: 'Give the nodes a quota of their own, which outranks every default: `{command}`.',
  },
  KAFKA_QUOTA_WINDOWS: {
    message: 'broker {broker}: {trouble}',
    remedy:
      'Set quota.window.num=1 at every broker, or 2 where consumers have quotas; docs/guide/kafka-quotas.md has the figures.',
  },
  EXPORTER_UNREADABLE: {
    message: 'the page of exporter {exporter} cannot be read: {reason}',
    remedy: 'Check kafkaQuotas.exporters, and the rules of the exporter (deploy/kafka/jmx.yml).',
    exitCode: EXIT_UNAVAILABLE,
  },
  NODE_FENCED: {
    message: 'node id {node} is in use by a newer process (incarnation {newer}, ours {own})',
    remedy: 'Give every process its own --node id; this one has stopped so that the newer one keeps its share.',
    exitCode: EXIT_UNEXPECTED,
  },
  PARTITIONS_DIFFER: {
    message: 'node {node} finds {own} partitions, {member} works with the {founded} that the cluster was founded with',
    remedy: 'Use a topic of {founded} partitions; or stop all nodes, and start them again with {own}.',
    exitCode: EXIT_CONFIG,
  },
  ID_COLLISION: {
    message: 'the names {first} and {second} have the same id of 96 bits',
    remedy: 'Give one of the two another name.',
    httpStatus: 409,
    exitCode: EXIT_CONFIG,
  },
  ADDRESS_IN_USE: {
    message: 'cannot listen on {address}: {reason}',
    remedy:
      'If another process listens there, stop it; if a right is missing, grant it; or choose another address (--http or --mqtt, or http of createNode): HOST:PORT, or unix:PATH for HTTP.',
    exitCode: EXIT_UNAVAILABLE,
  },
  KAFKA_QUOTAS_KEPT: {
    message: 'keepers of Kafka’s quotas are alive, and would write again: {keepers}',
    remedy: 'Stop every `quotamesh kafka-quotas` of the cluster, then release.',
    exitCode: EXIT_UNAVAILABLE,
  },
  KAFKA_QUOTAS_REFUSED: {
    message: 'the quotas were not put back: {reason}',
    remedy: 'Read the reason that Kafka gives, and run --release again: it puts the other quotas back.',
    exitCode: EXIT_UNAVAILABLE,
  },
  NODE_UNREACHABLE: {
    message: 'no answer from a node at {url}: {reason}',
    remedy: 'Check that a node runs there; --url names another one.',
    exitCode: EXIT_UNAVAILABLE,
  },
  NODE_CERTIFICATE: {
    message: 'the certificate of {url} is not accepted: {reason}',
    remedy: 'Name the file of the signing authority in --ca, and in --url a name that the certificate has.',
    exitCode: EXIT_UNAVAILABLE,
  },
  NODE_PROTOCOL: {
    message: '{url} speaks {spoken}, and was asked by {asked}',
    remedy: 'Begin the address in --url with {spoken}://.',
    exitCode: EXIT_UNAVAILABLE,
  },
  NODE_UNABLE: {
    message: 'the node at {url} cannot answer now: {reason}',
    remedy: '{advice}',
    exitCode: EXIT_UNAVAILABLE,
  },
  NODE_FAILED: {
    message: 'node {node} {reason}; the end of its log:\n{log}',
    remedy: 'Correct what the log says. `npm start -- --keep` keeps the logs of the demonstration.',
    exitCode: EXIT_UNAVAILABLE,
  },
  LIVE_FAILED: {
    message: 'the live run of {scenario} ended early: {reason}',
    remedy:
      'Its processes and files are gone. Correct what the reason names, or play the scenario with `quotamesh sim run`.',
    exitCode: EXIT_UNAVAILABLE,
  },
  TOPIC_UNREACHABLE: {
    message: 'topic {topic} cannot be reached: {reason}',
    remedy: 'Check that the topic is up and reachable; the node goes on trying.',
    httpStatus: 503,
    exitCode: EXIT_UNAVAILABLE,
  },
  TOPIC_SETTINGS: {
    message: 'topic {topic} has wrong settings: {reason}',
    remedy:
      'Change it as the message says, or let quotamesh create another one: topic.name (kafka), topic.prefix (redis), topic.path (embedded).',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_PID_TAKEN: {
    message: 'topic {topic}: another container has it open with the process id of this one ({pid}): {other}',
    remedy:
      'Give all containers on the folder one PID namespace (docker run --pid=host or --pid=container:NAME, hostPID or shareProcessNamespace in Kubernetes), or use a kind of topic that machines share: docs/operate/deployment.md.',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_DENIED: {
    message: 'topic {topic}: permission denied: {reason}',
    remedy:
      'Kafka: check how it authenticates (topic.sasl, topic.tls). Redis: check user and password, and grant what docs/operate/redis.md lists. Embedded: let this user write in the folder.',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_KEY_DIFFERS: {
    message: 'no record of the topic is signed with topic.hmac.key of this node (id {keyId}): {reason}',
    remedy:
      'Give all nodes the same topic.hmac.key, cluster and topic.name, or change the key as docs/operate/kafka-security.md says.',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_ACL_MISSING: {
    message: 'topic {topic}: Kafka does not let {principal} {to}: ACL {operation} on topic {topic} is missing',
    remedy: '`{command}` grants it; docs/operate/kafka-security.md lists all that a node needs.',
    exitCode: EXIT_CONFIG,
  },
  TOKEN_REFUSED: {
    message: 'topic {topic}: {endpoint} gives no token: {reason}',
    remedy: 'Check sasl.clientId, sasl.clientSecret and sasl.scope, and what the identity provider allows this client.',
    exitCode: EXIT_CONFIG,
  },
  TOKEN_UNAVAILABLE: {
    message: 'topic {topic}: no token from {source}: {reason}',
    remedy: 'Check that it is there and reachable; the node goes on trying.',
    exitCode: EXIT_UNAVAILABLE,
  },
  TOPIC_FULL: {
    message: 'topic {topic} is full: {reason}',
    remedy: 'Look for a frozen process on the topic; stop all nodes on it, remove the folder, start them again.',
  },
  TOPIC_DISK_FULL: {
    message: 'topic {topic} cannot be written, its disk is full: {reason}',
    remedy: 'Free space on the disk of topic.path; the node goes on trying, and recovers by itself.',
    httpStatus: 503,
    exitCode: EXIT_UNAVAILABLE,
  },
  TOPIC_DAMAGED: {
    message: 'the file of topic {topic} is damaged: {reason}',
    remedy:
      'Look for a failing disk, or a program that has written into the folder. Stop all nodes on it, remove the data file and its -lock, start them again: they write everything anew. What run time has defined is lost with a damaged registry/log.mdb alone: bring it back with `quotamesh group apply`.',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_UNSUPPORTED: {
    message: 'topic {topic} cannot be used: {reason}',
    remedy: 'Use Kafka 2.3 or newer.',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_MISSING: {
    message: 'topic {topic} does not exist any more',
    remedy:
      'Restart one node, which creates it as it was, or create it by hand; all nodes go on looking for it, and write again what it lacks.',
  },
  TOPIC_PACKAGE_MISSING: {
    message: 'topic kind {kind} needs the package {package}, which is not installed',
    remedy:
      'Run npm install {package}@{version}, with --global if quotamesh was installed so. It is no part of quotamesh, because other kinds of topic do not need it.',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_CODEC_MISSING: {
    message: 'records of the topic are compressed with {codec}, for which this node has no codec: it needs {needed}',
    remedy:
      'Install it at every node: all nodes must read all records. If no node is to have it, set topic.compression at all nodes and compression.type=producer at the topic, then delete the topic and restart one node: records that are compressed already stay so.',
    exitCode: EXIT_CONFIG,
  },
  KAFKAJS_VERSION: {
    message: 'topic kind kafka needs kafkajs {wanted}, found {found}',
    remedy: 'Install exactly that version (npm install --save-exact): its internals are used.',
    exitCode: EXIT_CONFIG,
  },
  TOPIC_CLOSED: { message: 'topic {topic} is closed', remedy: 'The node is stopping; no action needed.' },
  APPEND_TIMED_OUT: {
    message: 'topic {topic}: append not acknowledged within {timeoutMs} ms',
    remedy: 'The next report repairs it; if it persists, check the topic.',
  },
  APPEND_REFUSED: {
    message: 'topic {topic}: append refused: {reason}',
    remedy: 'The next report repairs it; if it persists, check the topic and its brokers.',
  },
  STORE_CALL_UNSUPPORTED: {
    message: 'the store for {store} has no {call}: a bucket of the cluster is filled by time alone',
    remedy: 'Leave the call or option out; docs/guide/stores.md says what there is instead.',
  },
  NOT_READY: {
    message: 'node {node} is not ready: {reason}',
    remedy: 'Try again after retryAfterMs, or ask another node.',
    httpStatus: 503,
  },
  GROUP_UNKNOWN: {
    message: 'group {group} is not configured{near}',
    remedy:
      'Use a configured group, add it to the YAML, or set defaultGroup; a key needs a template with a pattern for its name (`quotamesh key template list`).',
    httpStatus: 404,
  },
  ...GROUP_ERRORS,
  AMOUNT_INVALID: {
    message: '{field} {reason}',
    remedy: 'Send messages and bytes as whole numbers ≥ 0, at least one unit in all.',
    httpStatus: 422,
  },
  AMOUNT_ABOVE_MAX_REQUEST: {
    message: '{field} = {amount} is above maxRequest {max} of group {group}',
    remedy: 'Split the work, or raise maxRequest of the group.',
    httpStatus: 422,
  },
  COST_INVALID: {
    message: '{field} {reason}',
    remedy: 'Send units, readBytes, writtenBytes or clearedBytes as finite numbers ≥ 0, and a backend by its name.',
    httpStatus: 422,
  },
  COSTS_FULL: {
    message: 'costs of {max} groups and directions are kept already; those of {group} are not counted',
    remedy: 'Report costs of fewer groups at this node, or wait: costs are forgotten after four minutes.',
    httpStatus: 503,
  },
  BACKEND_INVALID: {
    message: 'backend {backend}: {field} {reason}',
    remedy: 'Send zone with level, target and spring, or with throttlingRatio (0 to 2, null = healthy).',
    httpStatus: 422,
  },
  BACKENDS_FULL: {
    message: 'the health of {max} backends is known already; {backend} is not added',
    remedy: 'Report no names that are made up: 10,000 are known at once, and one that is silent makes room.',
    httpStatus: 503,
  },
  LEVEL_FULL: {
    message: 'group {group}: {max} {level}s are in use for {direction} on this node, there is no room for another',
    remedy: 'Raise perTopic.max or perClient.max of the group, or check whether names are made up per request.',
    httpStatus: 503,
  },
  WAITING_FULL: {
    message: '{max} acquires wait on this node already',
    remedy: 'Try again without waitMs, or wait at another node.',
    httpStatus: 503,
  },
  WAIT_OVER: {
    message: 'no turn for group {group} within {waitMs} ms',
    remedy: 'Try again after retryAfterMs, or wait longer: waitMs may be 600,000.',
    httpStatus: 503,
  },
  ENFORCERS_FULL: {
    message: 'this node knows {what} already; there is no room for {enforcer}',
    remedy: 'Let some of them report to other nodes; one that is silent makes room.',
    httpStatus: 503,
  },
  ENFORCER_REPLACED: {
    message: 'life {life} of enforcer {enforcer} has been replaced by life {newer}',
    remedy: 'Give each process a name of its own, and each start a life above the last, as the time in milliseconds.',
    httpStatus: 409,
  },
  RESERVATION_UNKNOWN: {
    message: 'no reservation {id} on this node',
    remedy: 'Commit or cancel at the node that granted it, with the id of its answer; a restarted node knows none.',
    httpStatus: 404,
  },
  RESERVATION_ENDED: {
    message: 'reservation {id} has ended: it was committed, cancelled, or not ended within {validMs} ms',
    remedy: 'End each once and in time (limits.reservationMs); costs known later can go to POST /v1/costs.',
    httpStatus: 409,
  },
  RESERVATIONS_FULL: {
    message: '{max} reservations are open on this node already',
    remedy: 'Commit or cancel each; or raise limits.maxReservations.',
    httpStatus: 503,
  },
  FIELDS_INVALID: {
    message: '{count} fields are wrong: {details}',
    remedy: 'GET /openapi.json lists the allowed values.',
    httpStatus: 422,
  },
  FIELD_UNKNOWN: {
    message: 'field {field} is not known{near}',
    remedy: 'GET /openapi.json lists the fields.',
    httpStatus: 422,
  },
  FIELD_INVALID: {
    message: '{field} {reason}',
    remedy: 'GET /openapi.json lists the allowed values.',
    httpStatus: 422,
  },
  ...BATCH_ERRORS,
  ...SLOT_ERRORS,
  ...HTTP_ERRORS,
  ...GRPC_ERRORS,
  ...ACCESS_ERRORS,
  QUOTA_EXCEEDED: {
    message: 'group {group}: {dimension} {direction} {what} is used up for now',
    remedy: 'Try again after retryAfterMs.',
    httpStatus: 429,
  },
  UNEXPECTED: {
    message: 'unexpected error: {reason}',
    remedy: 'This is a defect of quotamesh; please report it with the log.',
    httpStatus: 500,
    exitCode: EXIT_UNEXPECTED,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
