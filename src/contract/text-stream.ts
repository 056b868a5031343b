/**
 * A body that is no JSON, made and sent piece by piece at the pace of the caller. When a piece fails, the connection is
 * cut, so a caller never takes a part for the whole.
 */
export class TextStream {
  /** With its charset. */
  readonly mediaType: string;
  readonly pieces: AsyncIterable<string>;

  constructor(mediaType: string, pieces: AsyncIterable<string>) {
    this.mediaType = mediaType;
    this.pieces = pieces;
  }
}
