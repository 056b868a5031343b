/** As Fastify understands it. */
export function notFound(): never {
  throw Object.assign(new Error('not_found'), { statusCode: 404 });
}
