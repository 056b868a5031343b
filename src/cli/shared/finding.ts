import { errorCode, errorText } from '../../base/thrown.ts';

/** The result of a check. The service works in spite of a warning. */
export type Finding = {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'FAULT';
  readonly detail: string;
};

export const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail });
export const warning = (check: string, detail: string): Finding => ({ check, state: 'warning', detail });
export const fault = (check: string, detail: string): Finding => ({ check, state: 'FAULT', detail });

/** Runs a check. @returns a fault with the message of what it throws; a warning where the user may not see what is checked */
export async function finding(check: string, run: () => string | Promise<string>): Promise<Finding> {
  try {
    return ok(check, await run());
  } catch (error) {
    return failed(check, error);
  }
}

/** Runs checks that report their own results. @returns of what they throw what {@link finding} returns */
export async function findings(check: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    return [failed(check, error)];
  }
}

function failed(check: string, error: unknown): Finding {
  return isForbidden(error) ? warning(check, notSeen) : fault(check, errorText(error));
}

const notSeen = 'not seen: the user of DATABASE_URL may not read this. Users of tallystick_operator may';

/** Returns whether the error says that the user of the database lacks a right, itself or as the cause. */
function isForbidden(error: unknown): boolean {
  if (errorCode(error) === '42501') return true;
  return error instanceof Error && error.cause !== undefined && isForbidden(error.cause);
}
