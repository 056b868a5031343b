import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A program, and what happens when it ends. */
export type SupervisedProgram = {
  readonly command: string;
  readonly args: readonly string[];
  /** Receives both output streams of the program; emptied at each start. */
  readonly logFile: string;
  /** The user that runs the program; the user of this process by default. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined;
  /** A file that replaces another one once the program has ended with status 0: complete or not at all. */
  readonly moveAtEnd?: { readonly from: string; readonly to: string };
};

export type RunningProgram = {
  /** Resolves with the exit status when the program has ended, for whatever reason. */
  readonly ended: Promise<number>;
  /** Interrupts the program and resolves when it has ended. */
  stop(): Promise<void>;
};

/**
 * The argument by which a supervisor is recognised in a list of processes; the program's own arguments follow
 * it. Supervisors of earlier releases have the same name.
 */
export const supervisorName = 'tallystick-guard';

// The supervisor is a shell: it exists wherever npm does, starts at once, takes a megabyte and survives a kill of all
// Node processes. Its standard input is a pipe, and only this process has the other end. The pipe closes when this
// process stops the program and also when it dies in any way, so a program never outlives it. SIGINT lets both
// programs finish: PostgreSQL rolls back and shuts down, the chain writes its state.
const script = `
from=$1 to=$2; shift 2
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
(
  while read -r _ <&3; do :; done
  kill -INT "$program"
  tenths=0
  while kill -0 "$program" && [ "$tenths" -lt 200 ]; do sleep 0.1; tenths=$((tenths + 1)); done
  kill -KILL "$program"
) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$program"
status=$?
[ "$status" -eq 0 ] && [ -n "$from" ] && mv -f "$from" "$to"
kill "$watcher" 2>/dev/null
exit "$status"
`;

/**
 * Starts a program that cannot outlive this process. It runs in a session of its own, so Ctrl-C in a terminal
 * reaches only this process, which then ends its programs in its own order.
 */
export function startSupervised(program: SupervisedProgram): RunningProgram {
  const { from = '', to = '' } = program.moveAtEnd ?? {};
  const log = openSync(program.logFile, 'w', 0o600);
  const supervisor = spawn('sh', ['-c', script, supervisorName, from, to, program.command, ...program.args], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', log, log],
    ...program.identity,
  });
  closeSync(log);
  const ended = untilEnded(supervisor);
  // Closing the pipe to a program that has ended already is no fault.
  supervisor.stdin?.on('error', () => {});
  void ended.then(() => supervisor.stdin?.destroy());
  return {
    ended,
    async stop() {
      supervisor.stdin?.end();
      await ended;
    },
  };
}

/**
 * Waits until a program is ready.
 * @returns false when it ended, or was not ready after a minute
 */
export async function untilReady(
  { ended }: Pick<RunningProgram, 'ended'>,
  isReady: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = Date.now() + 60_000;
  let running = true;
  void ended.then(() => {
    running = false;
  });
  while (running && Date.now() < deadline) {
    if (await isReady()) return true;
    await pause(10);
  }
  return false;
}

function untilEnded(supervisor: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    supervisor.once('error', () => resolve(127));
    supervisor.once('exit', (code) => resolve(code ?? 1));
  });
}
