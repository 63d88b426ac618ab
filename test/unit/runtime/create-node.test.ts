import { describe, expect, test } from 'vitest';
import { type CreateNodeOptions, createNode } from '../../../src/node/create-node.js';

const config = { cluster: 'c', topic: 'memory', groups: { a: {} } };

describe('createNode', () => {
  test.each([
    ['nothing', undefined, /options must be an object/],
    ['a path alone', 'node.yaml', /options must be an object/],
    ['no configuration', {}, /config is missing/],
    ['a misspelled option', { config, nodeid: 'a' }, /nodeid is not known; known are config, nodeId/],
    ['telemetry that cannot log', { config, telemetry: {} }, /telemetry must have a function log/],
    ['a time that is none', { config, readyTimeoutMs: Number.NaN }, /readyTimeoutMs must be a number of milliseconds/],
    ['a time below 0', { config, readyTimeoutMs: -1 }, /readyTimeoutMs must be/],
    ['a time that no timer can wait', { config, readyTimeoutMs: 2 ** 31 }, /readyTimeoutMs must be/],
  ])('%s is OPTIONS_INVALID', async (_, options, message) => {
    const starting = createNode(options as CreateNodeOptions);
    await expect(starting).rejects.toMatchObject({ code: 'OPTIONS_INVALID', message: expect.stringMatching(message) });
  });
});
