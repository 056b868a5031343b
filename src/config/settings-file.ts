import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { errorCode } from '../base/thrown.ts';
import { ConfigError, type Environment, secretSettings, settings } from './config.ts';

export const settingsFileVariable = 'TALLYSTICK_SETTINGS';

const known: ReadonlySet<string> = new Set([
  ...Object.keys(settings),
  ...secretSettings.map((name) => `${name}_FILE`),
]);

/**
 * Returns the variables that settings are read from: variables of a file, where there is one, and of the environment,
 * which wins.
 * @param file by default the file that TALLYSTICK_SETTINGS names, or none
 * @throws ConfigError when the file cannot be read, or naming every line that is wrong
 */
export function gatherSettings(env: Environment, file = env[settingsFileVariable] || undefined): Environment {
  if (file === undefined) return env;
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value));
  // A secret that the environment gives in either way is not read from the file in the other.
  const replaced = new Set(
    secretSettings.flatMap((name) => {
      const both = [name, `${name}_FILE`];
      return both.some((each) => given[each] !== undefined) ? both : [];
    }),
  );
  const read = Object.entries(readSettingsFile(file)).filter(([name]) => !replaced.has(name));
  return { ...Object.fromEntries(read), ...given };
}

/** @throws ConfigError when the file cannot be read, or naming every line that is wrong */
function readSettingsFile(file: string): Readonly<Record<string, string>> {
  try {
    return parseSettings(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`The settings file ${file} cannot be read (${errorCode(error) ?? 'unknown'})`]);
  }
}

/** Whether a value without quotes ends within a word, where a comment seems to begin. */
const isCut = (line: string) => /^[^=]+=\s*[^\s'"`#][^#]*(?<!\s)#/.test(line);

/**
 * Reads lines of `NAME=value`, comments and empty lines. Values may stand in quotes.
 * @param file named in faults; values never are
 * @throws ConfigError naming every line that is wrong
 */
export function parseSettings(text: string, file: string): Readonly<Record<string, string>> {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const place = `${file}:${index + 1}`;
    const name = /^([A-Z][A-Z0-9_]*)=/.exec(line)?.[1];
    if (name === undefined) faults.push(`${place} is not NAME=value`);
    else if (!known.has(name)) faults.push(`${place}: ${name} is no setting`);
    else if (seen.has(name)) faults.push(`${place}: ${name} is given a second time`);
    else if (isCut(line))
      faults.push(`${place}: ${name} ends before #; write %23 in a URL, or put all in quotes`);
    else seen.add(name);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  // Every name was seen above, so every value is text.
  return parseEnv(text) as Record<string, string>;
}

/**
 * The text of the file that `NAME_FILE` names; undefined when it names none.
 * @param faults gets what is wrong
 */
export function readFileOf(env: Environment, name: string, faults: string[]): string | undefined {
  const path = env[`${name}_FILE`];
  if (!path) return undefined;
  if (env[name]) faults.push(`${name}_FILE: ${name} is given too; leave one of them out`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    faults.push(`${name}_FILE: ${path} cannot be read (${errorCode(error) ?? 'unknown'})`);
    return undefined;
  }
}
