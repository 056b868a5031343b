/** One fault of a request's input: its location and what a valid value would be. */
export type InputError = {
  readonly in: 'path' | 'query' | 'header' | 'body';
  /** Name of the parameter or header; absent for body faults. */
  readonly name?: string;
  /** JSON pointer into the body; absent for parameters. */
  readonly pointer?: string;
  readonly message: string;
};
