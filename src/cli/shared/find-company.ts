import { type Company, findCompanyByIdOrName } from '../../keys/company-store.ts';
import { UsageError } from './failure.ts';
import type { Operator } from './session.ts';

/** Finds a company by its id or name. @throws UsageError when there is none */
export async function findCompany({ db }: Pick<Operator, 'db'>, idOrName: string): Promise<Company> {
  return (await findCompanyByIdOrName(db, idOrName)) ?? unknownCompany(idOrName);
}

export function unknownCompany(idOrName: string): never {
  throw new UsageError(`There is no company "${idOrName}". List them with: tallystick company list`);
}
