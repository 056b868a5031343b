async function ask(name: string, key: string) {
  const response = await fetch(`${process.env.TALLYSTICK}/events/v1/api/event`, {
    method: 'POST',
    headers: {
      'x-api-key': process.env.TALLYSTICK_KEY ?? '',
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ name }),
    signal: AbortSignal.timeout(20_000),
  });
  return { response, body: await response.json() };
}

async function createEvent(name: string) {
  const key = crypto.randomUUID(); // one key for one event, whatever happens
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask(name, key).catch(() => undefined); // no answer: nobody knows whether it was done
    if (answer?.response.ok) return answer.body;
    const status = answer?.response.status ?? 500;
    const retryAfter = answer?.response.headers.get('retry-after'); // also of 409 while the first request is at work
    if (attempt === 5 || !(retryAfter || [408, 500, 502, 504].includes(status))) {
      throw new Error(`not created: ${answer?.body.code ?? 'no answer'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, Number(retryAfter ?? 2 ** attempt) * 1000));
  }
}

const event = await createEvent('Spring fair');
console.log(event.id);
