import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { RedisConnection } from '../../../src/topic/redis/redis-connection.js';
import { redisTopicOptions } from '../../../src/topic/redis/redis-topic-options.js';
import { fakeServer } from '../../fuzz/fake-server.js';
import { redisTopicConfig } from '../../redis/redis-topic-config.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const COMMANDS = 500;

it('a connection to Redis keeps nothing of a command that is answered', async () => {
  const server = await fakeServer((socket, bytes) => {
    socket.write('$3\r\nabc\r\n');
    return bytes.length;
  });
  const config = redisTopicConfig([`127.0.0.1:${server.port}`]);
  const connection = new RedisConnection(redisTopicOptions('c', 'reports', config, {}));
  await connection.connect();
  const answers: WeakRef<object>[] = [];
  for (let i = 0; i < COMMANDS; i++) answers.push(new WeakRef((await connection.send('GET', ['k'])) as Buffer));
  await nextTurn();
  collectGarbage();
  expect(answers.filter((answer) => answer.deref() !== undefined).length).toBeLessThan(10);
  connection.destroy(new Error('done'));
});
