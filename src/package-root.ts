import { existsSync } from 'node:fs';

/** Folder of package.json as a URL that ends in `/`: one above src/, two above dist/src/. */
export const PACKAGE_ROOT = [new URL('../', import.meta.url), new URL('../../', import.meta.url)].find((folder) =>
  existsSync(new URL('package.json', folder)),
) as URL;
