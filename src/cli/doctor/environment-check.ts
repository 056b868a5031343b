import { type Environment, secretSettings, settings } from '../../config/config.ts';
import { type Finding, warning } from '../shared/finding.ts';

const known = [...Object.keys(settings), ...secretSettings.map((name) => `${name}_FILE`)];

// Shorter names, such as HOST, are next to names of other programs.
const shortest = 8;
// A letter too many, too few or wrong, or two letters that changed places.
const mostChanges = 2;

/** A warning for each variable of the environment whose name is nearly that of a setting: nothing reads it. */
export function examineEnvironment(environment: Environment): Finding[] {
  return Object.keys(environment).flatMap((name) => {
    if (name.length < shortest || known.includes(name)) return [];
    const meant = known.find((each) => each.length >= shortest && changesBetween(name, each) <= mostChanges);
    if (meant === undefined) return [];
    return [warning('settings', `${name} in the environment is no setting: did you mean ${meant}?`)];
  });
}

/** The fewest letters to add, remove or replace that make the one name of the other (Levenshtein). */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, wanted] of [...other].entries()) {
      const replaced = (row[at] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
