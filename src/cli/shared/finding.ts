import { errorText } from '../../base/thrown.ts';
/** The result of a check. The service works in spite of a warning. */
export type Finding = {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'FAULT';
  readonly detail: string;
};

export const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail });
export const warning = (check: string, detail: string): Finding => ({ check, state: 'warning', detail });
export const fault = (check: string, detail: string): Finding => ({ check, state: 'FAULT', detail });

/** Runs a check. @returns a fault with the message of what it throws */
export async function finding(check: string, run: () => string | Promise<string>): Promise<Finding> {
  try {
    return ok(check, await run());
  } catch (error) {
    return fault(check, errorText(error));
  }
}

/** Runs checks that report their own results. @returns one fault with the message of what they throw */
export async function findings(check: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    return [fault(check, errorText(error))];
  }
}
