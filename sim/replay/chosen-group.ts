import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { settingsOfKey } from '../../src/node/groups/keys/settings-of-key.js';
import { RecordCodec } from '../../src/topic/codec/record-codec.js';
import type { Recording } from '../../src/topic/recording/read-recording.js';
import type { RecordingHeader } from '../../src/topic/recording/recording-format.js';
import { decoded } from './decoded.js';

/** Returns the group, and the header with it: keys come of templates. */
export async function chosenGroup(
  recording: Recording,
  wanted: string | undefined,
): Promise<{ readonly header: RecordingHeader; readonly group: number }> {
  const { header } = recording;
  const { groups, keys } = header;
  const names = groups.map(({ name }) => name);
  const at = wanted === undefined && names.length === 1 ? 0 : names.indexOf(wanted ?? '');
  if (at !== -1) return { header, group: at };
  const key = wanted === undefined ? null : settingsOfKey(keys, wanted);
  if (wanted !== undefined && key !== null) {
    return { header: { ...header, groups: [...groups, { ...key, name: wanted }] }, group: groups.length };
  }
  const known = [...names, ...keys.map(({ pattern }) => pattern), ...(await keysTold(recording))].join(', ') || 'none';
  const reason =
    wanted === undefined
      ? `name a group or key of the recording with --group: ${known}`
      : `the recording has no settings of ${JSON.stringify(wanted)} (of run time they are not recorded), but of ${known}`;
  throw new QuotameshError('USAGE', { reason });
}

/** Lists the keys that heartbeats name most often. */
async function keysTold({ header, entries }: Recording): Promise<string[]> {
  if (header.keys.length === 0) return [];
  const codec = new RecordCodec(header.cluster);
  const told = new Map<string, number>();
  for await (const entry of entries) {
    const record = entry === 'caught-up' || 'epoch' in entry ? null : decoded(entry, codec)?.record;
    if (record?.kind !== 'node') continue;
    for (const { name } of record.keys ?? []) {
      if (told.has(name) || told.size < TOLD_MAX) told.set(name, (told.get(name) ?? 0) + 1);
    }
  }
  const most = [...told].sort(([, one], [, other]) => other - one);
  return most.slice(0, TOLD_SHOWN).map(([name]) => name);
}

/** Names counted, whoever wrote them. */
const TOLD_MAX = 10_000;
const TOLD_SHOWN = 10;
