/**
 * Reads a body as text; returns an empty text when there is no body.
 * @param most the largest number of bytes allowed, counted after decompression
 * @param tooLarge creates the error for a larger body. The rest is not read: leaving the loop ends the stream, and with
 *   it the connection
 */
export async function readText(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
  tooLarge: () => Error,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > most) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
