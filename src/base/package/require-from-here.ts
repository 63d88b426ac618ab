import { createRequire } from 'node:module';

/**
 * Finds packages beside this one; in a CommonJS bundle, without `import.meta`, from the bundle's file. `node -e` makes
 * `__filename` a global `[eval]`.
 */
export const requireFromHere = createRequire(
  typeof __filename === 'string' && !__filename.startsWith('[') ? __filename : import.meta.url,
);
