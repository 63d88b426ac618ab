import { expect, test } from 'vitest';
import { redisUnusable } from '../../../src/topic/redis/redis-failure.js';

/** Says which failures last, in the words of each server. */
const LASTING: [code: string, names: RegExp, ...says: string[]][] = [
  [
    'TOPIC_SETTINGS',
    /docs\/operate\/redis\.md/,
    "ERR unknown command 'INFO', with args beginning with: ",
    // XADD renamed: Redis 7, Redis 6, Valkey.
    'ERR Unknown Redis command called from script script: 08a2, on @user_script:4.',
    'ERR Error running script (call to f_08a2): @user_script:4: @user_script: 4: Unknown Redis command called from Lua script',
    'ERR Unknown Valkey command called from script script: 08a2, on @user_script:4.',
  ],
  ['TOPIC_SETTINGS', /DB index/, 'ERR DB index is out of range'],
  ['TOPIC_SETTINGS', /topic\.prefix/, 'WRONGTYPE Operation against a key holding the wrong kind of value'],
  ['TOPIC_DENIED', /NOPERM/, "NOPERM User u has no permissions to run the 'info' command"],
  ['TOPIC_DENIED', /can't run/, "ERR The user executing the script can't run this command or subcommand"],
];

test.each(LASTING)('%s: %s', (code, names, ...says) => {
  for (const each of says) expect(unusable(each)).toMatchObject({ code, message: expect.stringMatching(names) });
});

test.each([
  "OOM command not allowed when used memory > 'maxmemory'.",
  "READONLY You can't write against a read only replica.",
])('goes by: %s', (says) => {
  expect(unusable(says)).toBeNull();
});

function unusable(says: string) {
  return redisUnusable(Object.assign(new Error(says), { name: 'ReplyError' }), 'the topic');
}
