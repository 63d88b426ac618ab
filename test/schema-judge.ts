import fastify from 'fastify';

/** POST / of it answers 200 to what fits the JSON Schema, and 400 with the reason to anything else. */
export async function schemaJudge(schema: object) {
  // Fastify brings a JSON Schema validator; strict means neither coerced values nor silently dropped keys.
  const strict = { coerceTypes: false, removeAdditional: false, useDefaults: false };
  const app = fastify({ ajv: { customOptions: strict } });
  app.post('/', { schema: { body: schema } }, () => 'valid');
  await app.ready();
  return app;
}
