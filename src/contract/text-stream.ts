/**
 * A body that is no JSON, made and sent piece by piece at the pace of the caller. When a piece fails, the connection is
 * cut, so a caller never takes a part for the whole.
 */
export class TextStream {
  /** With its charset. */
  readonly mediaType: string;
  readonly pieces: AsyncIterable<string>;
  /**
   * The bytes that it keeps in memory at present, about. The maker of the pieces updates the number, which is read
   * after each piece.
   */
  heldBytes: number;

  constructor(mediaType: string, pieces: AsyncIterable<string>, heldBytes: number) {
    this.mediaType = mediaType;
    this.pieces = pieces;
    this.heldBytes = heldBytes;
  }
}
