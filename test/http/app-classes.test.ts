import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import express from 'express';
import request from 'supertest';
import { expect, test } from 'vitest';
import { listenHere } from './support.ts';

test('Express leaves the prototypes of requests and responses as the server made them', async () => {
  const prototypesOf = (...objects: object[]) => objects.map((each) => Object.getPrototypeOf(each));
  const made = new Map<string, object[]>();
  const note = (message: unknown) => {
    const { request: asked, response } = message as { request: { url: string }; response: object }; // Node's message
    made.set(asked.url, prototypesOf(asked, response));
  };
  subscribe('http.server.request.start', note);
  const app = express();
  let seen: object[] = [];
  app.use((incoming, outgoing) => {
    seen = prototypesOf(incoming, outgoing);
    outgoing.json({ path: incoming.path });
  });
  const server = await listenHere(app);
  const answer = await request(`http://127.0.0.1:${server.port}`).get('/a?of=prototypes');
  await server.stop(0);
  unsubscribe('http.server.request.start', note);
  expect(answer.body).toEqual({ path: '/a' });
  const [asked, answered] = made.get('/a?of=prototypes') ?? [];
  expect(seen[0]).toBe(asked);
  expect(seen[1]).toBe(answered);
});
