import pg from 'pg';

/** A connection of the driver that sends statements without waiting for answers, as those of the service. */
export async function connectPipelined(url: string): Promise<pg.Client> {
  // The driver's types lack `pipeline`.
  const config: pg.ClientConfig & { pipeline: boolean } = { connectionString: url, pipeline: true };
  const client = new pg.Client(config);
  await client.connect();
  return client;
}
