import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Keeps what Node makes of the files that are loaded from here on, so that the next start needs half the time. Where
 * nothing can be written, as in an image, all is compiled at each start; `NODE_COMPILE_CACHE` names another folder.
 */
export function keepCompiled(): void {
  // Next to the packages, where only accounts may write that may change the code.
  enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/tallystick', import.meta.url)));
}
