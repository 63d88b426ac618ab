import { createRequire } from 'node:module';

/**
 * Finds packages that a service has beside this one. In a bundle in CommonJS that somebody makes of a service,
 * `import.meta` is empty, and the bundle's own file takes its place.
 */
export const requireFromHere = createRequire(typeof __filename === 'string' ? __filename : import.meta.url);
