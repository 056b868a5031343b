/**
 * An array of an answer that is made, serialised and sent batch by batch, at the pace of the caller. When a batch
 * fails, the connection is cut, so a caller never takes a part for the whole.
 */
export class ItemStream<T> {
  readonly batches: AsyncIterable<readonly T[]> | Iterable<readonly T[]>;
  /**
   * The bytes that it keeps in memory at present, about. The maker of the batches updates the number, which is read
   * after each batch.
   */
  heldBytes: number;

  constructor(batches: ItemStream<T>['batches'], heldBytes: number) {
    this.batches = batches;
    this.heldBytes = heldBytes;
  }
}

/** A body in which an array, or one of its arrays, may be a stream. */
export type Streamable<Body> = Body extends readonly (infer T)[]
  ? Body | ItemStream<T>
  : { [Name in keyof Body]: Body[Name] extends (infer T)[] ? Body[Name] | ItemStream<T> : Body[Name] };
