/**
 * Where every copy of @opentelemetry/api of major version 1 keeps what was registered, with the version of the copy that
 * registered it. Null where nothing was.
 */
export function registeredApiVersion(): string | null {
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')];
  return (registered as { readonly version?: string } | undefined)?.version ?? null;
}
