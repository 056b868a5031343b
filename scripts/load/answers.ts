/**
 * How a request ended, as its caller sees it: `ok` is 2xx; `busy` 409 of a row or key at work, or 429; `unavailable` 502 or 503, both with `Retry-After`; `wrong` any other
 * answer; `cut` a connection that ended without one; `late` no answer at the deadline.
 */
export type AnswerClass = 'ok' | 'busy' | 'unavailable' | 'wrong' | 'cut' | 'late';

export type Answer = {
  /** When the request was sent, in milliseconds of `performance.now()`. */
  readonly at: number;
  readonly ms: number;
  readonly company: string;
  /** The question, such as `add attendee`. */
  readonly kind: string;
  readonly class: AnswerClass;
  /** The status and the beginning of a problem, or why there was no answer. */
  readonly detail: string;
};

export type Counts = Readonly<Record<AnswerClass, number>>;

export function countClasses(answers: readonly Answer[]): Counts {
  const counts = { ok: 0, busy: 0, unavailable: 0, wrong: 0, cut: 0, late: 0 };
  for (const answer of answers) counts[answer.class] += 1;
  return counts;
}

type Response = { readonly status: number; readonly retryAfter: string | undefined; readonly body: string };

/** Judges a response of the service to a request that should succeed. */
export function classOf({ status, retryAfter, body }: Response): AnswerClass {
  if (status >= 200 && status < 300) return 'ok';
  const canRetry = retryAfter !== undefined && /^[1-9]\d*$/.test(retryAfter);
  if (status === 502 || status === 503) return canRetry ? 'unavailable' : 'wrong';
  const isBusy = status === 429 || (status === 409 && /idempotency_in_progress|_busy"/.test(body));
  return isBusy && canRetry ? 'busy' : 'wrong';
}

/** The value below which this share of the values is. @returns 0 for none */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The texts of answers outside of `ok`: first the texts that no fault excuses, then the most frequent. */
export function commonDetails(answers: readonly Answer[], most = 5): string[] {
  const counts = new Map<string, { readonly isExcused: boolean; count: number }>();
  for (const { class: kindOfAnswer, kind, detail } of answers) {
    if (kindOfAnswer === 'ok') continue;
    const text = `${kindOfAnswer}: ${kind} ${detail}`;
    const isExcused = kindOfAnswer === 'busy' || kindOfAnswer === 'unavailable';
    counts.set(text, { isExcused, count: (counts.get(text)?.count ?? 0) + 1 });
  }
  const sorted = [...counts].sort(
    ([, one], [, other]) => Number(one.isExcused) - Number(other.isExcused) || other.count - one.count,
  );
  return sorted.slice(0, most).map(([text, { count }]) => `${count} × ${text}`);
}
