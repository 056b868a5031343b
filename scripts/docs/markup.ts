/** Text as HTML text or attribute value. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/**
 * Fills `{{name}}` with ready HTML. A name without a value, or a value without a name, is an error, so that
 * a template and its page cannot drift apart.
 */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  const used = new Set<string>();
  const filled = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The template names {{${name}}}, which has no value`);
    used.add(name);
    return value;
  });
  const surplus = Object.keys(values).filter((name) => !used.has(name));
  if (surplus.length > 0) throw new Error(`The template has no place for ${surplus.join(', ')}`);
  return filled;
}

/** A text of the error catalogue, its `{placeholders}` set apart. */
export function withPlaceholders(text: string): string {
  return escapeHtml(text).replace(/\{(\w+)\}/g, '<var>$1</var>');
}
