import { ConfigError, type Environment } from './config.ts';
import { readFileOf } from './settings-file.ts';

/** How a command calls a service over HTTP, as its callers do. */
export type ClientSettings = {
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** The API key; undefined for what needs none. */
  readonly apiKey: string | undefined;
};

const defaultBaseUrl = 'http://localhost:3000';

/**
 * Reads the settings of a caller: `TALLYSTICK`, and `TALLYSTICK_KEY` or the path of its file in
 * `TALLYSTICK_KEY_FILE`. An empty value counts as unset; the key is never quoted.
 * @throws ConfigError naming every fault
 */
export function readClientSettings(env: Environment): ClientSettings {
  const faults: string[] = [];
  const url = env['TALLYSTICK'] || defaultBaseUrl;
  if (!isWebUrl(url)) faults.push('TALLYSTICK: must be an http(s) URL');
  const apiKey = readFileOf(env, 'TALLYSTICK_KEY', faults) ?? (env['TALLYSTICK_KEY'] || undefined);
  if (apiKey !== undefined && !keyForm.test(apiKey))
    faults.push('TALLYSTICK_KEY: must be visible ASCII characters');
  if (faults.length > 0) throw new ConfigError(faults);
  return { baseUrl: url.replace(/\/+$/, ''), apiKey };
}

const isWebUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

// What a header cannot carry would fail with each call, far from its cause.
const keyForm = /^[\x21-\x7e]+$/;
