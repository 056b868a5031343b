type Page = { readonly limit: number; readonly offset: number };

/** The page that a query asks for; the fallbacks are the document's defaults. */
export function pageOf(query: { limit?: number | undefined; offset?: number | undefined }): Page {
  return { limit: query.limit ?? 50, offset: query.offset ?? 0 };
}
