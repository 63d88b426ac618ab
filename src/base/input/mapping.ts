/** Parsed JSON or YAML: keys and values, neither null nor a list. */
export type Mapping = Readonly<Record<string, unknown>>;

/** Tests for a mapping; zod takes instances of classes by their own properties, too. */
export function isMapping(input: unknown): input is Mapping {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}
