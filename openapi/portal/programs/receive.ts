import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');
const seen = new Set(); // keep the ids in your database

createServer(async (request, response) => {
  const body = await text(request);
  try {
    webhook.verify(body, request.headers as Record<string, string>);
  } catch {
    return response.writeHead(400).end();
  }
  const { id, type, data } = JSON.parse(body);
  if (!seen.has(id)) console.log(type, data.href);
  seen.add(id);
  response.writeHead(204).end();
}).listen(process.env.PORT);
