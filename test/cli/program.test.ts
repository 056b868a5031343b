import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commandLine } from './command-line.ts';

// Nothing here may need a setting: help must work before anything else does.
const { run, json } = commandLine({});

describe('help', () => {
  test('of the whole says how to start, what goes where and what exit statuses mean', async () => {
    const { status, out, err } = await run('--help');
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/\nCommands:\n {2}init /);
    expect(out).toContain('$ tallystick migrate');
    expect(out).toContain('Exit status: 0 done; 1 it failed');
  });

  test('is shown, as a mistake, when the command is missing', async () => {
    for (const args of [[], ['rwa']]) {
      const { status, out, err } = await run(...args);
      expect({ status, out }).toEqual({ status: 2, out: '' });
      expect(err).toMatch(/^Usage: tallystick/);
    }
  });

  test('gives the version', async () => {
    expect(await run('--version')).toEqual({ status: 0, out: '1.2.3\n', err: '' });
  });
});

describe('a mistake', () => {
  test('in a word is answered with the likely one', async () => {
    const { status, err } = await run('rwa', 'craete');
    expect(status).toBe(2);
    expect(err).toBe("error: unknown command 'craete'\n(Did you mean create?)\nSee: tallystick rwa --help\n");
  });

  test.each([
    [['company', 'list', '--colour'], "unknown option '--colour'"],
    [['company', 'list', 'x'], 'too many arguments'],
    [['company', 'show'], "missing required argument 'company'"],
    [['company'], 'A command is missing. See: tallystick --help'],
  ])('%j is one JSON object on standard error for programs', async (args, message) => {
    const { status, value, error } = await json(...args);
    expect({ status, value }).toEqual({ status: 2, value: undefined });
    expect(error?.exitCode).toBe(2);
    expect(error?.message).toContain(message);
  });

  test('in the settings is told with every fault, and with the way to the local service', async () => {
    const { status, out, err } = await run('company', 'list');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(/^The configuration has \d fault\(s\):\n {2}- DATABASE_URL is missing\n/);
    expect(err).toMatch(/For the service that npm start made, add --local\.\n$/);
  });
});

describe('the documentation', () => {
  const pages = ['*.md', 'docs/**/*.md', 'openapi/portal/guides/*.md', 'openapi/portal/problems.yaml'];
  const text = globSync(pages, { exclude: ['CHANGELOG.md', 'docs/operate/commands.md'] })
    .map((page) => readFileSync(page, 'utf8'))
    .join('\n')
    .replaceAll(/\\\n */g, '');
  const named = [
    ...text.matchAll(/(?:^|[`\s])tallystick ((?!src\/)[a-z].*?)(?:[`#|]|[.,;:)](?:\s|$)|$)/gm),
  ].map(([, words = '']) => words.trim());
  // The table of all commands is made from the program.
  const known = [
    ...readFileSync('docs/operate/commands.md', 'utf8').matchAll(/^\| `tallystick ([a-z -]*[a-z])/gm),
  ]
    .map(([, command = '']) => command)
    .toSorted((one, other) => other.length - one.length);
  const groups = new Set(known.map((command) => command.split(' ', 1)[0]));

  test('names only commands and options that there are', async () => {
    expect(named.length).toBeGreaterThan(100);
    const faults: string[] = [];
    for (const words of new Set(named)) {
      const command = known.find((each) => words === each || words.startsWith(`${each} `));
      const options = [...words.matchAll(/(?<= )--[a-z-]+/g)].map(([option]) => option);
      if (command === undefined && (options.length > 0 || !groups.has(words))) faults.push(words);
      const { out } = await run(...(command?.split(' ') ?? []), '--help');
      faults.push(
        ...options.filter((option) => !out.includes(option)).map((option) => `${words}: no ${option}`),
      );
    }
    expect(faults).toEqual([]);
  });
});
