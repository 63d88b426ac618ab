import { z } from 'zod';

/** Returns the schemas of a mapping's keys; none where it is no mapping. */
export function fieldsOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  const bare = unwrapped(schema);
  return bare instanceof z.ZodObject ? bare.shape : {};
}

export function schemasAlong(schema: z.ZodType, path: readonly PropertyKey[]): readonly z.ZodType[] {
  const along = [schema];
  let current: z.ZodType = schema;
  for (const step of path) {
    const next = partOf(unwrapped(current), step);
    if (next === undefined) break;
    along.push(next);
    current = next;
  }
  return along;
}

/** Strips wrappers for absence and defaults. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  return layersOf(schema).at(-1)!;
}

export function layersOf(schema: z.ZodType): readonly z.ZodType[] {
  const layers = [schema];
  for (let inner = innerOf(schema); inner !== undefined; inner = innerOf(inner)) layers.push(inner);
  return layers;
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  const { innerType } = schema.def as { readonly innerType?: z.ZodType };
  if (!(schema instanceof z.ZodPipe)) return innerType;
  const [first, second] = [schema.def.in as z.ZodType, schema.def.out as z.ZodType];
  return first instanceof z.ZodTransform ? second : first;
}

function partOf(schema: z.ZodType, step: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) return schema.shape[step as string] as z.ZodType | undefined;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  return schema instanceof z.ZodRecord ? (schema.valueType as z.ZodType) : undefined;
}
