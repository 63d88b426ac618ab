import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/**
 * How one file refers to another: `value` when it is loaded, `type` for types only, `dynamic` when a function asks for
 * it later, `thread` when it is started by its path.
 */
export type ImportKind = 'value' | 'type' | 'dynamic' | 'thread';

export interface Import {
  readonly from: string;
  readonly to: string;
  readonly kind: ImportKind;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
}

/**
 * All imports between the files of `trees`, by paths from `root`. Not parsed: the formatter gives imports one shape,
 * and TypeScript 7 has no JavaScript interface that could be asked.
 */
export function importsIn(root: string, trees: readonly string[]): Import[] {
  const files = trees.flatMap((tree) => sourceFiles(root, tree));
  const known = new Set(files);
  return files.flatMap((from) =>
    targetsOf(readFileSync(join(root, from), 'utf8')).flatMap(({ target, kind }) => {
      const to = fileOf(root, from, target);
      return to === null || to === from || !known.has(to) ? [] : [{ from, to, kind }];
    }),
  );
}

/** Imports between folders, without those inside one. */
export function betweenFolders(imports: readonly Import[]): Import[] {
  return imports
    .map(({ from, to, kind }) => ({ from: dirname(from), to: dirname(to), kind }))
    .filter(({ from, to }) => from !== to);
}

/** Every folder below `tree`, itself included, without what is generated. */
export function foldersBelow(root: string, tree: string): string[] {
  const inner = readdirSync(join(root, tree), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'generated' && entry.name !== 'node_modules',
  );
  return [tree, ...inner.flatMap(({ name }) => foldersBelow(root, posix.join(tree, name)))];
}

/** The members of each cycle, the largest cycle first: Tarjan's strongly connected components of two and more. */
export function cyclesOf(edges: readonly Edge[]): string[][] {
  const next = neighbours(edges);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const path: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node) as number);
    path.push(node);
    for (const other of next.get(node) ?? []) {
      if (!order.has(other)) visit(other);
      if (path.includes(other)) lowest.set(node, Math.min(lowest.get(node) as number, lowest.get(other) as number));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const members = path.splice(path.indexOf(node));
    if (members.length > 1) cycles.push(members.sort());
  };
  for (const node of [...next.keys()].sort()) if (!order.has(node)) visit(node);
  return cycles.sort((one, other) => other.length - one.length);
}

function neighbours(edges: readonly Edge[]): Map<string, Set<string>> {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  return next;
}

export function sourceFiles(root: string, folder: string): string[] {
  return foldersBelow(root, folder).flatMap((inner) =>
    readdirSync(join(root, inner))
      .filter((name) => /\.(ts|mjs)$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => posix.join(inner, name)),
  );
}

function targetsOf(source: string): { target: string; kind: ImportKind }[] {
  const text = source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const named = /^(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s*'(\.[^']+)';?/gm;
  return [
    ...[...text.matchAll(named)].map(([, type, names = '', target = '']) => ({
      target,
      kind: (type !== undefined || hasOnlyTypes(names) ? 'type' : 'value') as ImportKind,
    })),
    ...only(text, /^import\s+'(\.[^']+)';?/gm, 'value'),
    // `import('./x.js').then` or awaited is a later load; `import('./x.js').Name` in a declaration is a type.
    ...only(text, /\bimport\(\s*'(\.[^']+)'\s*\)(?!\.[A-Z])/g, 'dynamic'),
    ...only(text, /\bimport\(\s*'(\.[^']+)'\s*\)\.[A-Z]/g, 'type'),
    ...only(text, /new URL\(\s*'(\.[^']+\.(?:js|ts|mjs))'\s*,\s*import\.meta\.url/g, 'thread'),
  ];
}

function only(text: string, pattern: RegExp, kind: ImportKind): { target: string; kind: ImportKind }[] {
  return [...text.matchAll(pattern)].map(([, target = '']) => ({ target, kind }));
}

/** `{ type A, type B }` */
function hasOnlyTypes(names: string): boolean {
  const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
  const parts = (inner ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  return parts.length > 0 && parts.every((part) => part.startsWith('type '));
}

function fileOf(root: string, from: string, target: string): string | null {
  const place = posix.normalize(posix.join(dirname(from), target));
  return [place.replace(/\.js$/, '.ts'), place].find((path) => existsSync(join(root, path))) ?? null;
}
