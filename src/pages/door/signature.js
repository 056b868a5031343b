/*
 * Verifies tickets by WebCrypto. Browsers know Ed25519 since Safari 17, Firefox 129 and Chrome 137. In an older browser
 * nothing can be verified here, so nobody is admitted without an answer of the service.
 */

/**
 * Checks the signature of a ticket.
 * @param keys of the service, as JSON Web Keys
 * @returns `signed`, `forged`, `unknownSigner`, or `unable` where this browser verifies nothing
 */
export async function checkSignature({ kid, signed, signature }, keys, subtle = crypto.subtle) {
  const jwk = keys.find((key) => key.kid === kid && key.crv === 'Ed25519');
  if (jwk === undefined) return 'unknownSigner';
  const { kty, crv, x } = jwk;
  try {
    const key = await subtle.importKey('jwk', { kty, crv, x }, { name: 'Ed25519' }, false, ['verify']);
    return (await subtle.verify({ name: 'Ed25519' }, key, signature, signed)) ? 'signed' : 'forged';
  } catch {
    return 'unable';
  }
}
