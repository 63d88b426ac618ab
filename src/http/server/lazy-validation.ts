import { AjvCompiler, type BuildCompilerFromPool, type RouteDefinition } from '@fastify/ajv-compiler';

/** What fastify asks for: true, or false with the errors beside it. */
interface Validator {
  (value: unknown): unknown;
  errors?: unknown;
}

/**
 * Fastify's own validators, compiled when a route is first asked: there are some seventy, of which a node needs a handful, and
 * together they took a third of what the server takes to start. The first ask of a route pays a millisecond or two.
 */
export function lazyValidation(): BuildCompilerFromPool {
  const build = AjvCompiler();
  const lazy = (...how: Parameters<BuildCompilerFromPool>) => {
    const compile = build(...how) as unknown as (definition: RouteDefinition) => Validator;
    return (definition: RouteDefinition): Validator => {
      let compiled: Validator | null = null;
      const validate: Validator = (value) => {
        compiled ??= compile(definition);
        const verdict = compiled(value);
        if (verdict === false) validate.errors = compiled.errors;
        return verdict;
      };
      return validate;
    };
  };
  // Its types speak of schemas where fastify gives routes.
  return lazy as unknown as BuildCompilerFromPool;
}
