// White space, control and format characters, and what fonts draw as nothing: the blank of Braille, fillers of Hangul.
const visible = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Says what is wrong with a name from which the spaces around it were removed; undefined when people can see it. */
export function nameFault(trimmed: string): string | undefined {
  if (trimmed === '') return 'must not be empty';
  return visible.test(trimmed) ? undefined : 'must have a visible character';
}
