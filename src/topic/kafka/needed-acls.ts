/** Operation of an ACL, as for `kafka-acls.sh --operation`. */
export type AclOperation = 'Read' | 'Write' | 'DescribeConfigs' | 'Create';

export interface NeededAcl {
  readonly operation: AclOperation;
  /** Completes "the user may not …". */
  readonly to: string;
  /** Reason why a node needs it. */
  readonly because: string;
  /** True = only a node that creates the topics needs it. */
  readonly onlyToCreate?: true;
}

/**
 * Lists the rights of a node on each of its topics. It needs no others: no group, no idempotent producer, no Alter,
 * nothing on the cluster. Read and Write imply Describe. Errors, docs/operate/kafka-security.md and
 * test/integration/kafka-topic-security.test.ts derive from it.
 */
export const NEEDED_ACLS: readonly NeededAcl[] = [
  { operation: 'Read', to: 'read it', because: 'the records of all nodes are read, the own ones included' },
  { operation: 'Write', to: 'write to it', because: 'reports, heartbeats and changes of groups are appended' },
  {
    operation: 'DescribeConfigs',
    to: 'describe its configuration',
    because: 'a topic with wrong settings (not compacted, say) is refused at the start',
  },
  {
    operation: 'Create',
    to: 'create it',
    because: 'a topic that is missing is created',
    onlyToCreate: true,
  },
];

/** Bit of each operation in Kafka's number of rights. */
const RIGHT_BITS: Readonly<Record<AclOperation, number>> = { Read: 3, Write: 4, Create: 5, DescribeConfigs: 10 };

/** Lists rights that a node needs on an existing topic, and lacks. */
export function missingAcls(rights: number): readonly NeededAcl[] {
  return NEEDED_ACLS.filter(({ operation, onlyToCreate }) => !onlyToCreate && !((rights >> RIGHT_BITS[operation]) & 1));
}

export interface Grantee {
  /** As in `User:alice`. */
  readonly principal: string;
  /** As in `kafka-1:9092`. */
  readonly bootstrapServer: string;
}

/** Names the user as Kafka's default builder does; null = the token or the certificate names it. */
export function userOf(
  sasl: Readonly<Record<string, unknown>> | null,
  tls: boolean | Readonly<Record<string, unknown>>,
): string | null {
  if (sasl !== null) return (sasl.username as string | undefined) ?? null;
  return typeof tls === 'object' && tls.cert !== undefined ? null : 'ANONYMOUS';
}

export function granteeOf(brokers: readonly string[], ...proof: Parameters<typeof userOf>): Grantee {
  const named = proof[0] === null ? '<subject of the certificate>' : '<sub of the token>';
  return { principal: `User:${userOf(...proof) ?? named}`, bootstrapServer: brokers[0] ?? '<broker>' };
}

export function aclCommand(
  operations: readonly AclOperation[],
  topics: readonly string[],
  { principal, bootstrapServer }: Grantee,
): string {
  const what = operations.map((operation) => `--operation ${operation}`).join(' ');
  const where = topics.map((topic) => `--topic ${topic}`).join(' ');
  return `kafka-acls.sh --bootstrap-server ${bootstrapServer} --add --allow-principal '${principal}' ${what} ${where}`;
}
