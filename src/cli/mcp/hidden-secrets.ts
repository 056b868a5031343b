/**
 * Returns the JSON text of an answer with null for each claim secret, and for the claim URL next to it.
 * A text that is no JSON cannot be searched, and becomes empty.
 */
export function withoutSecrets(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, hide));
  } catch {
    return '';
  }
}

// An NFT has its secret in the URL too. What a company calls `secret` in its own data is hidden with it.
const hide = (_name: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || !('secret' in value)) return value;
  return { ...value, secret: null, ...('url' in value && { url: null }) };
};
