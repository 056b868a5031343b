import { type ScalarTag, stringify } from 'yaml';

// A text that YAML 1.1 takes for a time is quoted, since many readers still go by it; 1.2 knows no times.
const timestamp: ScalarTag = {
  tag: 'tag:yaml.org,2002:timestamp',
  test: /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)[0-9:.]+(?:[ \t]*(?:Z|[-+]\d{1,2}(?::\d{2})?))?)?$/,
  default: true,
  identify: () => false,
  resolve: (text) => text,
};

function toYaml(document: Record<string, unknown>): string {
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0, customTags: [timestamp] });
}

/** A document in both notations: name to content. `notice` becomes the first line of the YAML. */
export function published(
  name: string,
  document: Record<string, unknown>,
  notice?: string,
): [string, string][] {
  return [
    [`${name}.json`, `${JSON.stringify(document, null, 2)}\n`],
    [`${name}.yaml`, `${notice === undefined ? '' : `# ${notice}\n`}${toYaml(document)}`],
  ];
}
