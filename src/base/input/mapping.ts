/** Parsed JSON or YAML: keys and values, neither null nor a list. */
export type Mapping = Readonly<Record<string, unknown>>;

/** What zod takes for an object, too: instances of classes count by their own properties. */
export function isMapping(input: unknown): input is Mapping {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}
