import { parseRate, SHORT_UNIT } from '../../../config/setting/quantity.js';
import { valueAt } from '../../../config/setting/setting-value.js';
import {
  perSecond,
  type RateName,
  rateKey,
  shownRate,
  spelledRate,
  type WrittenRate,
} from '../../../config/setting/written-rate.js';
import type { CostedGroup } from '../../../node/api/change-answers.js';
import { change, get, nodeAddress } from '../../node-client/node-requests.js';
import { print, usage } from '../../terminal/print.js';
import { DEFINITION_SAMPLE, groupPath, patchOrMake } from './change-groups.js';
import type { QuotaFlags } from './quota-command.js';

/** fdbcli's names → ours. */
const KEYS = { reserved_throughput: 'reservedCost', total_throughput: 'cost' } as const;
type QuotaName = keyof typeof KEYS;

/** Shows bytes per second, or as written (`600/min`); --json always per second. */
export async function getQuotas(group: string, name: string | undefined, options: QuotaFlags): Promise<void> {
  const direction = directionOf(options);
  const found = await get<CostedGroup>(nodeAddress(options), `${groupPath(group)}/definition`, DEFINITION_SAMPLE);
  const quotas = namesOf(name).map((each) => {
    const units = quotaIn(found.definition, direction, KEYS[each]);
    return [each, units === null ? null : { ...units, amount: units.amount * found.readPageBytes }] as const;
  });
  if (options.json === true) {
    const told = quotas.map(([each, bytes]) => [each, bytes === null ? null : perSecond(bytes)]);
    print(JSON.stringify(Object.fromEntries(told)));
    return;
  }
  for (const [each, bytes] of quotas) {
    process.stdout.write(`${each} ${bytes === null ? '<empty>' : shownRate(bytes)}\n`);
  }
}

/** Returns a quota as the definition has it; null = none. */
function quotaIn(definition: unknown, direction: string, name: RateName): WrittenRate | null {
  const value = valueAt(definition, `quota.${direction}.${rateKey(name)}`);
  return typeof value === 'number' || typeof value === 'string' ? parseRate('rate', value) : null;
}

/** Sets page_cost_quota = ceiling(byte_quota / READ_COST_BYTE_FACTOR). */
export async function setQuota(group: string, name: string, value: string, options: QuotaFlags): Promise<void> {
  const direction = directionOf(options);
  const node = nodeAddress(options);
  const [known] = namesOf(name) as [QuotaName];
  const { amount: bytes, per } = parseRate('byte-rate', value);
  if (!(bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER)) {
    const allowed = `bytes per second, or in another unit of time (e.g. 5k, 10MiB or 600MiB/min)`;
    throw usage(`${name} must be ${allowed}, got ${JSON.stringify(value)}`);
  }
  // The same for all groups and nodes.
  const { readPageBytes } = await get<{ readonly readPageBytes: number }>(node, '/v1/costs/factors', {
    readPageBytes: 0,
  });
  const units = Math.ceil(bytes / readPageBytes);
  const changed = await patchOrMake(node, group, {
    quota: { [direction]: { [rateKey(KEYS[known])]: spelledRate({ amount: units, per }) } },
  });
  const unit = SHORT_UNIT[per];
  const text = `${known} ${units * readPageBytes} bytes/${unit}, ${units} cost units/${unit}`;
  report(group, text, changed, options);
}

export async function clearQuotas(group: string, name: string | undefined, options: QuotaFlags): Promise<void> {
  const direction = directionOf(options);
  const node = nodeAddress(options);
  const names = namesOf(name);
  const nulls = Object.fromEntries(names.map((each) => [rateKey(KEYS[each]), null]));
  const body = { quota: { [direction]: nulls } };
  const changed = await change<CostedGroup>(node, { method: 'PATCH', path: groupPath(group), body }, DEFINITION_SAMPLE);
  report(group, `${names.join(', ')} cleared`, changed, options);
}

function namesOf(name: string | undefined): QuotaName[] {
  if (name === undefined) return Object.keys(KEYS) as QuotaName[];
  if (Object.hasOwn(KEYS, name)) return [name as QuotaName];
  const others = 'quotas of messages and bytes are set by `quotamesh group set`';
  throw usage(`the quota must be ${Object.keys(KEYS).join(' or ')}, got ${JSON.stringify(name)}; ${others}`);
}

function directionOf({ direction }: QuotaFlags): 'publish' | 'dispatch' {
  if (direction === 'publish' || direction === 'dispatch') return direction;
  throw usage(`--direction must be publish or dispatch, got ${JSON.stringify(direction)}`);
}

function report(group: string, what: string, changed: object | null, { json = false }: QuotaFlags): void {
  const revision = changed !== null && 'revision' in changed ? Number(changed.revision) : undefined;
  print(json ? JSON.stringify({ group, revision }) : `${group}: ${what}, revision ${revision}`);
}
