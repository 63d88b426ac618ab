import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of package.json, a URL that ends in `/`: beside src/ and dist/. */
export const PACKAGE_ROOT = [new URL('../../../', import.meta.url), new URL('../../../../', import.meta.url)].find(
  (folder) => existsSync(new URL('package.json', folder)),
) as URL;

/** File of `quotamesh`, bundled by the build (docs/decisions/0045). */
export const COMMAND_FILE = fileURLToPath(new URL('dist/bin/quotamesh.js', PACKAGE_ROOT));
