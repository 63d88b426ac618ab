import { readFileSync } from 'node:fs';
import { EXPLAINS, KNOWN_CASES } from './known-members.js';

/** One file of this folder, as the caller's type describes it. Throws at the first member that no runner knows. */
export function readVectors<File>(name: string): File {
  const file = JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
  for (const one of file.cases) rejectUnknown(name, one);
  return file as File;
}

interface VectorCase {
  readonly id: string;
  readonly kind?: string;
  readonly group?: string;
}

/** Nothing in a case may be passed over: by path and name, e.g. `fdb-gtt.json: proxy/One: clients[0].mood`. */
export function rejectUnknown(file: string, one: VectorCase): void {
  const { by, members, operations } = KNOWN_CASES[file] ?? unknown(`${file}: not a file of vectors`);
  const kind = by === null ? 'case' : (one[by] ?? '');
  const listed = members[kind] ?? unknown(`${file}: ${one.id}: ${by} "${kind}"`);
  const known = new Set(listed.split(' '));
  const explains = new Set(EXPLAINS.split(' '));

  /** `path` as it is shown, `shape` without the places in arrays. */
  function look(value: unknown, path: string, shape: string): void {
    if (Array.isArray(value)) for (const [at, inner] of value.entries()) look(inner, `${path}[${at}]`, `${shape}[]`);
    else if (typeof value === 'object' && value !== null) lookInside(value, path, shape);
  }

  function lookInside(value: object, path: string, shape: string): void {
    const { op } = value as { readonly op?: string };
    const isStep = /^(steps|events)\[\]$/.test(shape) && op !== undefined;
    const ofOperation = !isStep ? null : operations[`${kind}/${op}`]?.split(' ');
    if (ofOperation === undefined) unknown(`${file}: ${one.id}: ${path}.op "${op}"`);
    for (const [name, inner] of Object.entries(value)) {
      const inPath = path === '' ? name : `${path}.${name}`;
      if (explains.has(name) || (isStep && name === 'op')) continue;
      if (ofOperation !== null && !ofOperation.includes(name)) unknown(`${file}: ${one.id}: ${inPath} of op "${op}"`);
      const places = [name, '*'].map((last) => (shape === '' ? last : `${shape}.${last}`));
      const place = places.find((each) => known.has(each));
      if (place === undefined) unknown(`${file}: ${one.id}: ${inPath}`);
      // Steps within steps are steps.
      look(inner, inPath, place.replace(/^steps\[\](\.everyNth)?\.steps$/, 'steps'));
    }
  }

  look(one, '', '');
}

function unknown(what: string): never {
  throw new Error(`${what} is not known to the runner`);
}
