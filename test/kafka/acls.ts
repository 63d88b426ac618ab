import { setTimeout as sleep } from 'node:timers/promises';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, type Admin, ResourcePatternTypes } from 'kafkajs';
import type { AclOperation } from '../../src/topic/kafka/needed-acls.js';
import { withAdmin } from './admin.js';

const IN_PROTOCOL = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  Create: AclOperationTypes.CREATE,
} as const satisfies Record<AclOperation, AclOperationTypes>;
const APPLIED_TIMEOUT_MS = 10_000;

/** What a test's super user grants and takes; both resolve when the broker that was asked goes by it. */
export function aclsOf(brokers: () => readonly string[]) {
  return {
    permit: (user: string, topic: string, operations: readonly AclOperation[]) =>
      withAdmin(brokers(), async (admin) => {
        if (operations.length === 0) return;
        const acl = operations.map((operation) => ({
          ...literal(topic),
          principal: `User:${user}`,
          host: '*',
          operation: IN_PROTOCOL[operation],
          permissionType: AclPermissionTypes.ALLOW,
        }));
        await admin.createAcls({ acl });
        const wanted = operations.map((operation) => IN_PROTOCOL[operation]);
        await until(admin, topic, (found) => wanted.every((operation) => found.includes(operation)));
      }),
    withdraw: (topic: string, operation?: AclOperation) =>
      withAdmin(brokers(), async (admin) => {
        const kind = operation === undefined ? AclOperationTypes.ANY : IN_PROTOCOL[operation];
        await admin.deleteAcls({ filters: [{ ...literal(topic), operation: kind, permissionType: ANY }] });
        await until(admin, topic, (found) => (operation === undefined ? found.length === 0 : !found.includes(kind)));
      }),
  };
}

const ANY = AclPermissionTypes.ANY;

async function until(admin: Admin, topic: string, holds: (operations: number[]) => boolean): Promise<void> {
  const givenUpAt = performance.now() + APPLIED_TIMEOUT_MS;
  for (;;) {
    const filter = { ...literal(topic), operation: AclOperationTypes.ANY, permissionType: ANY };
    const { resources } = await admin.describeAcls(filter);
    if (holds(resources.flatMap(({ acls }) => acls.map(({ operation }) => operation)))) return;
    if (performance.now() > givenUpAt) throw new Error(`Kafka does not apply the ACLs of ${topic}`);
    await sleep(20);
  }
}

function literal(topic: string) {
  return {
    resourceType: AclResourceTypes.TOPIC,
    resourceName: topic,
    resourcePatternType: ResourcePatternTypes.LITERAL,
  };
}
