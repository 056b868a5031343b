import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Where a program of these names is, in the folders of PATH; undefined if nowhere. */
function findProgram(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  const files = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** What these tests use beside npm's packages. A part whose tool is missing is skipped. */
export const tools = {
  chromium: findProgram('chromium', 'chromium-browser', 'google-chrome'),
  curl: findProgram('curl'),
  python3: findProgram('python3'),
};

/** @throws Error when PORTAL_TOOLS=all asks for a complete run and something is missing */
export function reportTools(): void {
  const missing = Object.entries(tools).filter(([, file]) => file === undefined);
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name).join(', ');
  if (process.env['PORTAL_TOOLS'] === 'all') throw new Error(`not installed: ${names}`);
  process.stdout.write(`Not installed, so what needs it is skipped: ${names}\n`);
}
