import type { JsonObject } from './json.ts';

/** An operation with the path item that it stands in, whose parameters are its own as well. */
export type Operation = { readonly path: string; readonly item: JsonObject; readonly operation: JsonObject };
