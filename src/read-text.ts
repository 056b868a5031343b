/**
 * The text of a body, read as it comes; an empty one of none.
 * @param most bytes that it may have; counted as they arrive, so after decompression
 * @param tooLarge makes the error of a body that has more. The rest is not read: leaving the loop ends the stream,
 *   and with it the connection
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
