import { expect, test } from 'vitest';
import { redisUnusable } from '../../../src/topic/redis/redis-failure.js';

/** Says which failures last, in the words of each server. */
test.each<[what: string, says: string, code: string | undefined, names: RegExp]>([
  [
    'INFO renamed',
    "ERR unknown command 'INFO', with args beginning with: ",
    'TOPIC_SETTINGS',
    /docs\/operate\/redis\.md/,
  ],
  [
    'XADD renamed, Redis 7',
    'ERR Unknown Redis command called from script script: 08a2, on @user_script:4.',
    'TOPIC_SETTINGS',
    /docs\/operate\/redis\.md/,
  ],
  [
    'XADD renamed, Redis 6',
    'ERR Error running script (call to f_08a2): @user_script:4: @user_script: 4: Unknown Redis command called from Lua script',
    'TOPIC_SETTINGS',
    /docs\/operate\/redis\.md/,
  ],
  [
    'XADD renamed, Valkey',
    'ERR Unknown Valkey command called from script script: 08a2, on @user_script:4.',
    'TOPIC_SETTINGS',
    /docs\/operate\/redis\.md/,
  ],
  ['a database too many', 'ERR DB index is out of range', 'TOPIC_SETTINGS', /DB index/],
  [
    'a key of another type',
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'TOPIC_SETTINGS',
    /topic\.prefix/,
  ],
  ['no right to a command', "NOPERM User u has no permissions to run the 'info' command", 'TOPIC_DENIED', /NOPERM/],
  [
    'no right in a script',
    "ERR The user executing the script can't run this command or subcommand",
    'TOPIC_DENIED',
    /can't run/,
  ],
  ['no memory', "OOM command not allowed when used memory > 'maxmemory'.", undefined, /^$/],
  ['a replica', "READONLY You can't write against a read only replica.", undefined, /^$/],
])('%s', (_, says, code, names) => {
  const told = redisUnusable(Object.assign(new Error(says), { name: 'ReplyError' }), 'the topic');
  expect(told?.code).toBe(code);
  expect(told?.message ?? '').toMatch(names);
});
