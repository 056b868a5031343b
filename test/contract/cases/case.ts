import type { Answer } from '../../support/conformance.ts';
import type { DocumentedOperation } from '../documented.ts';
import type { Facts } from '../facts.ts';
import type { OperationId, Row } from '../operations.ts';
import { type Session, Unprovoked } from '../session.ts';

/** What a case is tried with. */
export type Trial = {
  readonly session: Session;
  readonly facts: Facts;
  readonly operation: DocumentedOperation;
  readonly id: OperationId;
  readonly row: Row;
};

/** Provokes one documented answer. @throws Unprovoked when this deployment does not allow it */
export type Provoke = (trial: Trial) => Promise<Answer>;

/** Cases by `operationId example` or by the name of an example alone, for all operations that have it. */
export type Provocations = Readonly<Record<string, Provoke>>;

const impossible = new WeakSet<Provoke>();

/** For what no request from outside can bring about at will. */
export function cannot(reason: string): Provoke {
  const provoke: Provoke = () => Promise.reject(new Unprovoked(reason));
  impossible.add(provoke);
  return provoke;
}

export const isPossible = (provoke: Provoke): boolean => !impossible.has(provoke);

/** For what leaves traces. */
export const writing =
  (provoke: Provoke): Provoke =>
  (trial) => {
    if (!trial.session.mayWrite) throw new Unprovoked('needs --write');
    return provoke(trial);
  };
