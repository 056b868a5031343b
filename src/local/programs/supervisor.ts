import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** A program of ours and what to do when it has to end. */
export type GuardedProgram = {
  readonly command: string;
  readonly args: readonly string[];
  /** Takes what the program writes; begun anew with each start. */
  readonly logFile: string;
  /** The user that runs the program, where it is not ours. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined;
  /** A file to put in the place of another once the program has ended well: complete or not at all. */
  readonly moveAtEnd?: { readonly from: string; readonly to: string };
};

export type Guarded = {
  /** Settles when the program has ended, wanted or not, with its exit status. */
  readonly ended: Promise<number>;
  /** Ends the program in order and waits for it. */
  stop(): Promise<void>;
};

/** How a guard is known in a list of processes: it stands before the program's own words. */
export const guardName = 'tallystick-guard';

// A shell, because it is there wherever npm is, starts at once, takes a megabyte and outlives a kill of all
// Node processes. Its standard input is a pipe that only we hold: the end of it means that we are gone or
// want the program to end, so no way of dying leaves a program behind. SIGINT ends both programs in order:
// PostgreSQL rolls back and shuts down, the chain writes its state.
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
 * Starts a program that cannot outlive this process. It runs in a session of its own, so Ctrl-C in a
 * terminal reaches us alone and we end it in our order.
 */
export function startGuarded(program: GuardedProgram): Guarded {
  const { from = '', to = '' } = program.moveAtEnd ?? {};
  const log = openSync(program.logFile, 'w', 0o600);
  const guard = spawn('sh', ['-c', script, guardName, from, to, program.command, ...program.args], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', log, log],
    ...program.identity,
  });
  closeSync(log);
  const ended = untilEnded(guard);
  // A pipe to a program that is gone already is no fault.
  guard.stdin?.on('error', () => {});
  void ended.then(() => guard.stdin?.destroy());
  return {
    ended,
    async stop() {
      guard.stdin?.end();
      await ended;
    },
  };
}

function untilEnded(guard: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    guard.once('error', () => resolve(127));
    guard.once('exit', (code) => resolve(code ?? 1));
  });
}
