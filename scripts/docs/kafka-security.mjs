import { GENERATED, table } from './markdown.mjs';

const GRANTEE = { principal: 'User:quotamesh', bootstrapServer: 'kafka-1:9093' };
const TOPICS = ['quotamesh-reports', 'quotamesh-reports-registry'];

/** docs/operate/kafka-security.md: the ACLs are those of src/topic/kafka/needed-acls.ts, the topics those of
topic-settings.ts. */
export function renderKafkaSecurity({ NEEDED_ACLS, aclCommand, CREATED_WITH }) {
  const rows = NEEDED_ACLS.map(({ operation, because, onlyToCreate }) => {
    return [`\`${operation}\``, onlyToCreate ? 'only where the node creates them' : 'always', because];
  });
  const all = NEEDED_ACLS.map(({ operation }) => operation);
  const withoutCreation = NEEDED_ACLS.filter((acl) => !acl.onlyToCreate).map(({ operation }) => operation);
  const settings = Object.entries(CREATED_WITH).map(([name, value]) => `--config ${name}=${value}`);
  const create = (topic) =>
    `kafka-topics.sh --bootstrap-server ${GRANTEE.bootstrapServer} --create --topic ${topic} --partitions 1 --replication-factor 3 \\\n  ${settings.join(' \\\n  ')}`;
  return [
    GENERATED,
    CONNECTIONS,
    `## The rights of a node

On both topics, that of the reports (\`topic.name\`) and that of the registry (the
same with \`-registry\` behind it), and nowhere else:

${table(['ACL on the topic', 'Needed', 'Why'], rows)}

\`Describe\` is implied by \`Read\`, and by \`Write\`. No consumer group, no idempotent producer, no \`Alter\`, no
\`Delete\`, nothing on the cluster.

A node that creates its topics:

\`\`\`sh
${aclCommand(all, TOPICS, GRANTEE)}
\`\`\`

Or somebody else creates them, and the node may not. More partitions than one are for the reports only; the registry
has one:

\`\`\`sh
${TOPICS.map(create).join('\n')}
${aclCommand(withoutCreation, TOPICS, GRANTEE)}
\`\`\`

\`quotamesh record\` reads: it needs \`Read\` and \`DescribeConfigs\` on the topic of the reports. Other writers to
the topics have the powers [below](#what-signatures-do-not-protect-from).

**A missing right is named.** At the start the node ends with \`TOPIC_ACL_MISSING\` (exit code 78): who may not do
what on which topic, and the command that grants it. If \`Write\` is missing, or a right is withdrawn later, the node
stays up, not ready or isolated, with the same words in \`status\` and one log line. A principal that the client cannot
know stands in \`<…>\`. test/integration/kafka-topic-security.test.ts runs a node with exactly these ACLs.`,
    SIGNATURES,
  ].join('\n\n');
}

const CONNECTIONS = `# Kafka: connections, rights, signed records

All settings with their variables: [settings.md](../reference/settings.md). Signed records go with every kind of topic.

## Connections

\`\`\`yaml
topic:
  kind: kafka
  brokers: ["kafka-1:9093", "kafka-2:9093"]
  tls: { ca: { file: ./ca.pem } }                        # cert and key, where Kafka wants a certificate of the client
  sasl: { mechanism: scram-sha-512, username: quotamesh, password: { file: ./password } } # or scram-sha-256, plain
\`\`\`

**Tokens** (\`oauthbearer\`) from the identity provider's token endpoint, by client credentials (RFC 6749, 4.4; the
secret as HTTP Basic):

\`\`\`yaml
  sasl: { mechanism: oauthbearer, tokenEndpoint: "https://id.example/token", clientId: quotamesh, clientSecret: { file: ./secret }, scope: kafka }
\`\`\`

or from a file that somebody else keeps fresh, as Kubernetes does with a projected token; it is read again whenever
a connection proves who it is:

\`\`\`yaml
  sasl: { mechanism: oauthbearer, tokenFile: /var/run/secrets/kafka/token }
\`\`\`

- A token of the endpoint is replaced after 80 % of its life, at the latest 15 s before its end; all connections of a
  topic share it.
- If brokers end sessions (\`connections.max.reauth.ms\`), a connection proves itself again 10 s before. Tokens must
  live for 30 s at least, sessions for more than 10 s.
- The endpoint says no: \`TOKEN_REFUSED\`, and a node that starts ends. It does not answer, or the file is missing:
  \`TOKEN_UNAVAILABLE\`; the node goes on trying, and says so. Kafka refuses the token: \`TOPIC_DENIED\`, with
  Kafka's words.
- The endpoint must be https (but on this machine), and is not followed elsewhere. A private authority goes into
  \`NODE_EXTRA_CA_CERTS\`.`;

const SIGNATURES = `## Signed records

A writer to a topic can write for every node: claim demand that is none, report that a node has left, or define
groups. Signatures (HMAC-SHA-256, one key for the cluster) make the nodes believe each other only:

\`\`\`yaml
topic:
  hmac: { key: { file: ./hmac-key } }           # openssl rand -base64 32 > hmac-key
\`\`\`

Both topics, every kind of store. A signature holds for one cluster, topic, partition and key, so a record cannot be
shown under another name. Records that no key of ours has signed are ignored, counted by cause
(\`unsigned\`, \`unknown-key\`, \`wrong-signature\`; \`quotamesh_topic_unverified_records_total\`), named once per
key in a log line (20 at most), and stand in \`status\` (\`signatures\`; \`degraded\` for 5 minutes). Each record is
22 bytes longer. \`npm run bench:hmac\` prints what it costs ([figures.md](../reference/figures.md#signed-records)).

### Introducing and removing it, one node at a time

1. Every node: \`hmac: { key: { file: … }, verify: warn }\`. It signs, and believes all the same; nodes without the key
   skip signatures. Unsigned records of the registry are written again, signed, after 10 to 20 s.
2. Wait until \`quotamesh_topic_unverified_keys\` is 0 at every node (unchanged groups are reported again after
   \`timing.forcedReportMs\`; keys of nodes that are gone stay until they are forgotten).
3. Every node: remove \`verify: warn\`.

A node with \`verify: require\` beside nodes that do not sign yet ignores them, and takes the quota for itself. To
remove signatures: \`verify: warn\` at every node, then no \`hmac\`.

### Changing the key, one node at a time

1. Every node: \`nextKey\` is the new key. It is believed already.
2. Every node: \`key\` is the new key, \`previousKey\` the old one. Records of the registry under the old one are
   written again.
3. When \`quotamesh_topic_unverified_keys{signer="previous-key"}\` is 0 at every node, without \`previousKey\`.

\`signatures.keyId\` in \`status\` tells which key a node signs with, and nothing about it.

### What signatures do not protect from

A writer to the topic without the key can still

- **hide a record from nodes that start later**, by writing anything under its key, or a tombstone: compaction then
  drops the signed one. Running nodes ignore it. A report comes again within \`timing.forcedReportMs\` (5 minutes),
  a heartbeat within a second, what is hidden in the registry at once, the ceiling of a ramp within 250 ms per node
  ([ramps](../guide/ramps.md#where-the-ceiling-lives)).
- **show an old record again.** Reports, heartbeats, farewells, health of backends: running nodes ignore them by
  incarnation and sequence. Of a node that is forgotten, recorded heartbeats make a ghost, whose floor the others lack
  meanwhile; a node that comes back under a forgotten name can be stopped (\`NODE_FENCED\`). A change of a group that
  was made **without** \`If-Match\` and is shown again counts again; with \`If-Match\` it does not.
- **fill the topic**, or hold it up.

None of these lifts Σ shares above the quota for nodes that have read the same log. Every holder of the key is a node.
So: ACLs first, signatures where the topic is not the nodes' alone. The reasons: [decision
0044](../decisions/0044-signed-records.md).
`;
