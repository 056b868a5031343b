/**
 * A body that is no JSON, made and sent piece by piece at the pace of the caller. When a piece fails, the connection is
 * cut, so a caller never takes a part for the whole.
 */
export class TextStream {
  /** With its charset. */
  readonly mediaType: string;
  readonly pieces: AsyncIterable<string>;
  /** What it keeps in memory at present, about. Whoever makes the pieces keeps it true; it is read after each. */
  heldBytes: number;

  constructor(mediaType: string, pieces: AsyncIterable<string>, heldBytes: number) {
    this.mediaType = mediaType;
    this.pieces = pieces;
    this.heldBytes = heldBytes;
  }
}
