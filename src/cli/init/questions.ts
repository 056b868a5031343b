import { type Environment, type SettingName, settings } from '../../config/config.ts';
import type { Question } from '../shared/prompt.ts';

/** A setting that a person decides on. */
export type Asked = {
  readonly name: SettingName;
  /** The option that gives it, without its value. */
  readonly option: string;
  readonly message: string;
  readonly otherwise?: string;
  readonly isSecret?: boolean;
};

export const questions: readonly Asked[] = [
  {
    name: 'DATABASE_URL',
    option: 'database-url',
    message: 'Database, postgres://user:password@host:port/database:',
    isSecret: true,
  },
  {
    name: 'PUBLIC_BASE_URL',
    option: 'public-base-url',
    message: 'Address under which callers reach the service, such as https://api.example.com:',
  },
  {
    name: 'CLAIM_BASE_URL',
    option: 'claim-base-url',
    message: 'Address of a claim page of your own (empty: that of this service):',
  },
  {
    name: 'OPERATOR_NAME',
    option: 'operator-name',
    message: 'Who runs the service, as the portal says it:',
    otherwise: 'Tallystick',
  },
  {
    name: 'SUPPORT_URL',
    option: 'support-url',
    message: 'Where callers and customers find help, https: or mailto: (empty: nowhere but the portal):',
  },
  {
    name: 'MORALIS_API_KEY',
    option: 'moralis-api-key',
    message: 'Key of the data provider Moralis (empty: every network is read from nodes of your own):',
    isSecret: true,
  },
];

/** The networks to mint on are asked for by their ids; each gets a keystore. */
export const mintQuestion: Question = {
  message: 'Ids of the networks to mint on, such as 1,137 (empty: none yet):',
  fault: (answer) => (answer === '' ? undefined : chainIdsFault(answer)),
};

/** Returns what is wrong with chain ids, separated by commas. */
export const chainIdsFault = (text: string): string | undefined =>
  text.split(',').every((id) => /^[1-9]\d{0,15}$/.test(id.trim()))
    ? undefined
    : 'must be decimal chain ids, separated by commas';

/** Returns what is wrong with the value of a setting; undefined for a good value. */
export function settingFault(name: SettingName, value: string): string | undefined {
  const parsed = settings[name].schema.safeParse(value);
  return parsed.success ? undefined : parsed.error.issues.map(({ message }) => message).join('; ');
}

/** Whether the variables have the setting, itself or in a file. */
export const isGiven = (env: Environment, name: string): boolean =>
  Boolean(env[name]) || Boolean(env[`${name}_FILE`]);
