import { parse } from 'yaml';
import { z } from 'zod';
import { catalogue, type ProblemCode } from '../../src/base/errors.ts';

const text = z.string().trim().min(1);
const texts = z.record(z.string(), z.strictObject({ cause: text, remedy: text }));

export type ProblemText = z.infer<typeof texts>[string];

/** Cause and remedy by code. Fails unless there is exactly one text for each code of the catalogue. */
export function readProblemTexts(yaml: string): Map<ProblemCode, ProblemText> {
  const read = texts.parse(parse(yaml));
  const codes = Object.keys(catalogue) as ProblemCode[]; // the keys of the constant are its type
  const surplus = Object.keys(read).filter((code) => !(code in catalogue));
  if (surplus.length > 0) throw new Error(`Texts for unknown problem codes: ${surplus.join(', ')}`);
  const missing = codes.filter((code) => !(code in read));
  if (missing.length > 0) throw new Error(`Problem codes without a text: ${missing.join(', ')}`);
  return new Map(codes.flatMap((code) => (read[code] === undefined ? [] : [[code, read[code]]])));
}
