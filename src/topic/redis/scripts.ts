/**
 * Scripts for single steps inside Redis. Keys of a log:
 *
 *     <prefix>log      stream   <offset>-0 → k: key, r: record; its newest TAIL_RECORDS
 *     <prefix>newest   hash     key → <offset>, a newline, the newest record of the key, no tombstones; '' → epoch
 *     <prefix>meta     hash     run (of the server that began the epoch), offset (the highest given), created
 *
 * A record is `<append time, ms> <1, or 0 for a tombstone>`, a newline, and the value.
 *
 * *Why* the epoch lies in `newest`: a server may evict one key alone. Without newest records there is no epoch, so
 * nodes put them back; the other keys can be made anew.
 *
 * Offsets never fall and are never given twice (FLUSHALL, a failover): every epoch begins 2^20 above all that its
 * opener has read and Redis has kept; without either, at 2^20 per second of the server's clock. Nothing overtakes that;
 * it reaches 2^53 in 2242.
 */
const OFFSETS_PER_EPOCH = 2 ** 20;
/** Largest offset; entries beyond are foreign. */
export const OFFSET_MAX = 2 ** 53 - 2 ** 40;

/** Name of the epoch among the newest records; no record has it. */
export const EPOCH_FIELD = '';

/**
 * Begins a new epoch, unless this server's run began the log. It did not if the log is empty, after a failover, or
 * after a restart, which may have lost the end. ARGV: run id · epoch to begin · offset the caller has read up to →
 * epoch, offset, ms since it began, whether it began now
 */
export const OPEN = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('HGET', KEYS[2], '')
local meta = redis.call('HMGET', KEYS[3], 'run', 'offset', 'created')
local offset = tonumber(meta[2] or '') or 0
local created = tonumber(meta[3] or '')
local readOffset = tonumber(ARGV[3])
if epoch and meta[1] == ARGV[1] and created and offset >= readOffset and offset < ${OFFSET_MAX} then
  return { epoch, string.format('%.0f', offset), string.format('%.0f', now - created), 0 }
end
local last = 0
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = tonumber(string.match(info[i + 1], '^%d+')) end
  end
end
if last >= ${OFFSET_MAX} then
  redis.call('DEL', KEYS[1])
  last = 0
end
if offset >= ${OFFSET_MAX} then offset = 0 end
offset = math.max(offset, last, readOffset)
offset = offset > 0 and offset + ${OFFSETS_PER_EPOCH} or time[1] * ${OFFSETS_PER_EPOCH}
local text = string.format('%.0f', offset)
redis.call('HSET', KEYS[2], '', ARGV[2])
redis.call('HSET', KEYS[3], 'run', ARGV[1], 'offset', text, 'created', string.format('%.0f', now))
return { ARGV[2], text, '0', 1 }
`;

/** Appends. ARGV: epoch · tail records · then key, 1 or 0, value of each record. Refuses another log with EPOCH. */
export const APPEND = `
local offset = tonumber(redis.call('HGET', KEYS[3], 'offset') or '')
if redis.call('HGET', KEYS[2], '') ~= ARGV[1] or not offset then return redis.error_reply('EPOCH the log is another one') end
local time = redis.call('TIME')
local ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
for i = 3, #ARGV, 3 do
  offset = offset + 1
  local text = string.format('%.0f', offset)
  local record = ms .. ' ' .. ARGV[i + 1] .. '\\n' .. ARGV[i + 2]
  local added = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], text .. '-0', 'k', ARGV[i], 'r', record)
  if type(added) == 'table' and added.err then
    -- Somebody else wrote an entry above ours: an epoch above that.
    if string.find(added.err, 'equal or smaller') then redis.call('HDEL', KEYS[2], '') end
    return redis.error_reply(string.find(added.err, 'equal or smaller') and 'EPOCH a foreign entry' or added.err)
  end
  if ARGV[i + 1] == '1' then
    redis.call('HSET', KEYS[2], ARGV[i], text .. '\\n' .. record)
  else
    redis.call('HDEL', KEYS[2], ARGV[i])
  end
  redis.call('HSET', KEYS[3], 'offset', text)
end
return 'OK'
`;

/**
 * Puts back forgotten records under their old offsets. Later writes have higher ones, so the order of nodes does not
 * matter. ARGV: epoch · then key, offset, record of each ('' for a tombstone) → number put back
 */
export const RESTORE = `
if redis.call('HGET', KEYS[2], '') ~= ARGV[1] then return redis.error_reply('EPOCH the log is another one') end
local restored = 0
for i = 2, #ARGV, 3 do
  local found = redis.call('HGET', KEYS[2], ARGV[i])
  local offset = tonumber(found and string.match(found, '^%d+') or '') or -1
  if offset < tonumber(ARGV[i + 1]) then
    if ARGV[i + 2] ~= '' then
      redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1] .. '\\n' .. ARGV[i + 2])
      restored = restored + 1
    elseif found then
      redis.call('HDEL', KEYS[2], ARGV[i])
      restored = restored + 1
    end
  end
end
return restored
`;

/**
 * Lists what reads and scripts do, with arguments that change nothing. *Why:* Redis does not name what a script may not
 * do, and some is done hours after the start.
 */
export function rehearsal({ log, newest, meta }: LogKeys): readonly (readonly [string, ...(string | number)[]])[] {
  return [
    ['XREAD', 'COUNT', 1, 'STREAMS', log, '0'],
    ['XRANGE', log, '-', '+', 'COUNT', 1],
    // The smallest id is refused.
    ['XADD', log, '0-0', 'k', 'r'],
    ['XINFO', 'STREAM', log],
    ['HGET', newest, EPOCH_FIELD],
    ['HSCAN', newest, '0', 'COUNT', 1],
    // A field without a value is refused.
    ['HSET', newest, 'k', 'r', 'k'],
    ['HDEL', newest, NO_FIELD],
    ['HMGET', meta, 'run'],
    ['EXISTS', log],
    ['DEL', `${log}${NO_FIELD}`],
    ['TIME'],
  ];
}

export interface LogKeys {
  readonly log: string;
  readonly newest: string;
  readonly meta: string;
}

/** Name of no key and no field of a log. */
const NO_FIELD = ':none';
