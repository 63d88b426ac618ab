import { describe, expect, test } from 'vitest';
import { type CreateNodeOptions, createNode } from '../../../src/doors/library/create-node.js';

const config = { cluster: 'c', topic: 'memory', groups: { a: {} } };
const OPTIONS = ['config', 'nodeId', 'env', 'telemetry', 'http', 'readyTimeoutMs'] as const;

describe('createNode', () => {
  test.each([
    ['nothing', undefined, 'options must be an object with config, got nothing'],
    ['a path alone', 'node.yaml', 'options must be an object with config, got "node.yaml"'],
    ['no configuration', {}, 'config is missing: the path of a YAML file, or its contents as an object'],
    ['an empty path', { config: '' }, 'config must be the path of a YAML file, or its contents as an object, got ""'],
    ['a misspelled option', { config, nodeid: 'a' }, 'nodeid is not known; Did you mean "nodeId"?'],
    ['another option', { config, cluster: 'a' }, `cluster is not known; known are ${OPTIONS.join(', ')}`],
    ['a node id with a blank', { config, nodeId: 'a b' }, /^createNode: nodeId must be a name of 1 to .*, got "a b"$/],
    ['telemetry that cannot log', { config, telemetry: {} }, /telemetry must be an object with a function log.*, got /],
    ['decisions to nobody', { config, telemetry: { log: () => {}, decided: 1 } }, /telemetry must be .* decided/],
    ['a time that is none', { config, readyTimeoutMs: Number.NaN }, /readyTimeoutMs must be a number of milliseconds/],
    ['a time below 0', { config, readyTimeoutMs: -1 }, /readyTimeoutMs must be .*, got -1/],
    ['a time that no timer can wait', { config, readyTimeoutMs: 2 ** 31 }, /readyTimeoutMs must be/],
    [
      'a variable that is no text, without showing it',
      { config, env: { PORT: 80, QUOTAMESH_TOPIC_HMAC_KEY: 123_456 } },
      'env.QUOTAMESH_TOPIC_HMAC_KEY must be a text, got a value of type number',
    ],
    ['several mistakes', { nodeId: 7, env: [] }, /config is missing: .*; nodeId must be .*, got 7; env must be/],
  ])('%s is OPTIONS_INVALID', async (_, options, told) => {
    const message = typeof told === 'string' ? `createNode: ${told}` : expect.stringMatching(told);
    await expect(createNode(options as CreateNodeOptions)).rejects.toMatchObject({ code: 'OPTIONS_INVALID', message });
  });

  test.each(OPTIONS.flatMap((option) => [null, true, [], Symbol('s')].map((value) => [option, value] as const)))(
    '%s is checked: %o is refused by the name of the option',
    async (option, value) => {
      const starting = createNode({ config, [option]: value });
      await expect(starting).rejects.toMatchObject({ code: 'OPTIONS_INVALID', facts: { field: option } });
    },
  );

  test('options that are undefined are absent, and the environment of a process is one', async () => {
    const options: unknown = { config, env: process.env, nodeId: undefined, telemetry: undefined };
    const node = await createNode(options as CreateNodeOptions);
    await node.close();
  });
});
