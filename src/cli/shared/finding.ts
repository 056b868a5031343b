import { errorText } from '../../base/thrown.ts';
/** The result of a check. The service works in spite of a warning. */
export type Finding = {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'FAULT';
  readonly detail: string;
};

/** Runs a check. @returns a fault with the message of what it throws */
export async function finding(check: string, run: () => string | Promise<string>): Promise<Finding> {
  try {
    return { check, state: 'ok', detail: await run() };
  } catch (error) {
    return { check, state: 'FAULT', detail: errorText(error) };
  }
}

/** Runs checks that report their own results. @returns one fault with the message of what they throw */
export async function findings(check: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    return [{ check, state: 'FAULT', detail: errorText(error) }];
  }
}
