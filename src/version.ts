import { readFileSync } from 'node:fs';

/** From package.json, one folder above both src/ and dist/. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
