/** What the portal says of the deployment that serves it. */
export type Deployment = {
  /** Address under which callers reach the service, without a slash at its end. */
  readonly baseUrl: string;
  /** The operator's name. */
  readonly operator: string;
  /** Where its callers find help: an http, https or mailto address. */
  readonly supportUrl: string;
  /** The key of a sample company, which readers may try calls with. Only the local service with its sample data has one. */
  readonly sampleKey?: string | undefined;
};

/**
 * What stands in a built portal where the deployment's own words are put when it is served. The top-level domain
 * `invalid` belongs to nobody (RFC 2606), so nothing else of the portal is like them.
 */
export const placeholders = {
  baseUrl: 'https://here.invalid',
  operator: 'here-operator',
  supportUrl: 'https://support.here.invalid/',
  sampleKey: 'here-sample-key',
} as const satisfies Deployment;

const placeholderHost = 'here.invalid';

/** Whether a file of the portal has anything to fill in. */
export function needsFilling(text: string): boolean {
  return [placeholderHost, placeholders.operator, placeholders.sampleKey].some((each) => text.includes(each));
}

/** Puts the deployment into a file of the portal: as text, in attributes and in the scripts of pages. */
export function fillIn(text: string, { baseUrl, operator, supportUrl, sampleKey = '' }: Deployment): string {
  // As a URL is written, without what could end a text or an attribute.
  const { href, host } = new URL(baseUrl);
  return text
    .replaceAll(placeholders.supportUrl, supportUrl)
    .replaceAll(placeholders.baseUrl, href.replace(/\/+$/, ''))
    .replaceAll(placeholderHost, host)
    .replaceAll(placeholders.operator, operator)
    .replaceAll(placeholders.sampleKey, sampleKey);
}
