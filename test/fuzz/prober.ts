import type { Sender, SentRequest } from '../contract/sender.ts';
import { type Answer, createConformance } from '../support/conformance.ts';
import { faultsOfAnswer } from './judge.ts';

/** Requests of one try, for the report when it fails. */
export type Trace = readonly { readonly curl: string; readonly status: number; readonly text: string }[];

/** Sends requests, judges each answer and remembers both. */
export type Prober = {
  /** @throws Error naming what is wrong with the answer, whatever was asked */
  send(request: SentRequest): Promise<Answer>;
  readonly trace: Trace;
};

/** What all tries of a run share. */
export type Probing = {
  newProber(): Prober;
  /** Requests sent so far. */
  readonly sent: () => number;
};

export function createProbing(sender: Sender): Probing {
  const { faultsOf } = createConformance();
  let sent = 0;
  return {
    sent: () => sent,
    newProber() {
      const trace: { curl: string; status: number; text: string }[] = [];
      return {
        trace,
        async send(request) {
          sent += 1;
          const curl = sender.toCurl(request);
          const entry = { curl, status: 0, text: '' };
          trace.push(entry);
          const answer = await sender.send(request);
          Object.assign(entry, { status: answer.status, text: answer.text });
          const faults = faultsOfAnswer(answer, faultsOf);
          if (faults.length === 0) return answer;
          throw new Error(faults.join('\n'));
        },
      };
    },
  };
}
