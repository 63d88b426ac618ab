const number = { type: 'number', minimum: 0 } as const;

/** One cost, on one backend or on none that anybody watches. */
export const COST = {
  type: 'object',
  additionalProperties: false,
  properties: {
    backend: { type: 'string' },
    units: number,
    readBytes: number,
    writtenBytes: number,
    clearedBytes: number,
  },
} as const;
