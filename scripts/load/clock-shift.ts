import { readFileSync, writeFileSync } from 'node:fs';

// Loaded before the service (`--import`): on SIGUSR2 its calendar jumps by the milliseconds in the file that
// CLOCK_SHIFT_FILE names. Timers and performance.now() go on, as they do when a machine's clock is set. What the calendar
// says afterwards is written beside that file, with the process's id behind its name.
const file = process.env['CLOCK_SHIFT_FILE'];
const RealDate = Date;
let shift = 0;

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    // Whatever Date takes is handed on; without arguments it is the moment of now.
    super(...((given.length === 0 ? [RealDate.now() + shift] : given) as [number]));
  }
  static override now(): number {
    return RealDate.now() + shift;
  }
}

if (file !== undefined) {
  process.on('SIGUSR2', () => {
    shift = Number(readFileSync(file, 'utf8'));
    globalThis.Date = ShiftedDate as DateConstructor; // calls without `new` give a text, which nothing here uses
    writeFileSync(`${file}-${process.pid}`, new Date().toISOString());
  });
}
