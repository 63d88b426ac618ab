import { parseQuantity } from '../../config/setting/quantity.js';
import { valueAt } from '../../config/setting/setting-value.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { DefinedGroup } from '../../groups/changes/change-group.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { change, get, nodeAddress } from '../../node-client/node-requests.js';
import { patchOrMake, pathOf } from './change-groups.js';
import type { QuotaOptions } from './quota-command.js';

/** fdbcli's names → ours. */
const KEYS = { reserved_throughput: 'reservedCostPerSecond', total_throughput: 'costPerSecond' } as const;
type QuotaName = keyof typeof KEYS;

/** In bytes per second; null = there is none. */
export async function getQuotas(group: string, name: string | undefined, options: QuotaOptions): Promise<void> {
  const direction = directionOf(options);
  const found = await get<DefinedGroup>(nodeAddress(options), `${pathOf(group)}/definition`);
  const quotas = namesOf(name).map((each) => {
    const units = valueAt(found.definition, `quota.${direction}.${KEYS[each]}`);
    const given = units === undefined || units === null ? null : parseQuantity('rate', units as number | string);
    return [each, given === null ? null : given * found.readPageBytes] as const;
  });
  if (options.json === true) process.stdout.write(`${JSON.stringify(Object.fromEntries(quotas))}\n`);
  else for (const [each, bytes] of quotas) process.stdout.write(`${each} ${bytes ?? '<empty>'}\n`);
}

/** page_cost_quota = ceiling(byte_quota / READ_COST_BYTE_FACTOR), as the text has it. */
export async function setQuota(group: string, name: string, value: string, options: QuotaOptions): Promise<void> {
  const direction = directionOf(options);
  const node = nodeAddress(options);
  const [known] = namesOf(name) as [QuotaName];
  const bytes = parseQuantity('byte-rate', value);
  if (!(bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER)) {
    throw usage(`${name} must be bytes per second (e.g. 5k or 10MiB), got ${JSON.stringify(value)}`);
  }
  const readPageBytes = await pageBytes(node);
  const units = Math.ceil(bytes / readPageBytes);
  const changed = await patchOrMake(node, group, { quota: { [direction]: { [KEYS[known]]: units } } });
  report(group, `${known} ${units * readPageBytes} bytes/s, ${units} cost units/s`, revisionOf(changed), options);
}

export async function clearQuotas(group: string, name: string | undefined, options: QuotaOptions): Promise<void> {
  const direction = directionOf(options);
  const node = nodeAddress(options);
  const nulls = Object.fromEntries(namesOf(name).map((each) => [KEYS[each], null]));
  const body = { quota: { [direction]: nulls } };
  const changed = await change<DefinedGroup>(node, { method: 'PATCH', path: pathOf(group), body });
  report(group, `${namesOf(name).join(', ')} cleared`, changed?.revision, options);
}

function revisionOf(changed: object | null): number | undefined {
  return changed !== null && 'revision' in changed ? Number(changed.revision) : undefined;
}

/** Bytes that count as one page read. They do not differ between groups, nor between nodes of a cluster. */
async function pageBytes(node: NodeAddress): Promise<number> {
  const { readPageBytes } = await get<{ readPageBytes: number }>(node, '/v1/costs/factors');
  return readPageBytes;
}

function namesOf(name: string | undefined): QuotaName[] {
  if (name === undefined) return Object.keys(KEYS) as QuotaName[];
  if (Object.hasOwn(KEYS, name)) return [name as QuotaName];
  throw usage(`the quota must be ${Object.keys(KEYS).join(' or ')}, got ${JSON.stringify(name)}`);
}

function directionOf({ direction }: QuotaOptions): 'publish' | 'dispatch' {
  if (direction === 'publish' || direction === 'dispatch') return direction;
  throw usage(`--direction must be publish or dispatch, got ${JSON.stringify(direction)}`);
}

function report(group: string, what: string, revision: number | undefined, { json = false }: QuotaOptions): void {
  process.stdout.write(`${json ? JSON.stringify({ group, revision }) : `${group}: ${what}, revision ${revision}`}\n`);
}

function usage(reason: string): QuotameshError {
  return new QuotameshError('USAGE', { reason });
}
