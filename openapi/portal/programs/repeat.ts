async function createEvent(name: string) {
  const key = crypto.randomUUID(); // one key for one event, whatever happens
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${process.env.TALLYSTICK}/events/v1/api/event`, {
      method: 'POST',
      headers: {
        'x-api-key': process.env.TALLYSTICK_KEY ?? '',
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ name }),
    }).catch(() => undefined); // no answer: nobody knows whether it was done
    if (response?.ok) return response.json();
    // 409 has the header while the first request is still at work.
    const isPassing =
      response?.headers.has('retry-after') || [408, 500, 502].includes(response?.status ?? 500);
    if (attempt === 5 || !isPassing) {
      throw new Error(`not created: ${(await response?.json())?.code ?? 'no answer'}`);
    }
    const seconds = Number(response?.headers.get('retry-after') ?? 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const event = await createEvent('Spring fair');
console.log(event.id);
