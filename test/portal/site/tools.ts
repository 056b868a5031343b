import { findProgram } from '../../../scripts/find-program.ts';

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
