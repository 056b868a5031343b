/** What a check found. A warning is nothing that keeps the service from its work. */
export type Finding = {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'FAULT';
  readonly detail: string;
};

/** Runs a check; what it throws is the fault. */
export async function finding(check: string, run: () => string | Promise<string>): Promise<Finding> {
  try {
    return { check, state: 'ok', detail: await run() };
  } catch (error) {
    return { check, state: 'FAULT', detail: messageOf(error) };
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
