/**
 * The claim page of an NFT: the id in the path, the secret in the fragment, which browsers never send to a server. The
 * base may end in slashes and may have a query, which is kept.
 * @param base absolute http(s) URL
 */
export function claimUrl(base: string, nftId: string, secret: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${nftId}`;
  url.hash = secret;
  return url.href;
}
