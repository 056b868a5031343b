import { parseSettings } from '../../config/settings-file.ts';
import { UsageError } from '../shared/failure.ts';

const beginning = `# Settings of Tallystick, made by tallystick init. Whoever reads this file has its keys: keep it to those
# who run the service, and keep a copy apart from the database. The environment wins over what stands here.
`;

/** The text of a settings file with these values in it; all else of it stays as it is. */
export function withSettings(
  text: string | undefined,
  values: Readonly<Record<string, string>>,
  file: string,
): string {
  let changed = text ?? beginning;
  for (const [name, value] of Object.entries(values)) {
    const line = `${name}=${quoted(name, value)}`;
    const present = new RegExp(`^${name}=.*$`, 'm');
    // A function, since a value may have `$&`.
    changed = present.test(changed)
      ? changed.replace(present, () => line)
      : `${changed.replace(/\n*$/, '\n')}${line}\n`;
  }
  const read = parseSettings(changed, file);
  const other = Object.keys(values).find((name) => read[name] !== values[name]);
  if (other === undefined) return changed;
  throw new UsageError(`The value of ${other} cannot be written into ${file}: give it by the environment.`);
}

/** Without quotes where that can be, since some readers of such files do not know quotes. */
function quoted(name: string, value: string): string {
  if (/^[^\s'"`#]*$/.test(value)) return value;
  const quote = ["'", '"', '`'].find((each) => !value.includes(each));
  if (quote !== undefined && !/[\r\n]/.test(value)) return `${quote}${value}${quote}`;
  throw new UsageError(`The value of ${name} cannot be written into a file: give it by the environment.`);
}
