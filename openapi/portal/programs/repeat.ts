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
    if (attempt === 5 || (response && ![429, 502, 503].includes(response.status))) {
      throw new Error(`not created: ${(await response?.json())?.code ?? 'no answer'}`);
    }
    const seconds = Number(response?.headers.get('retry-after') ?? 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const event = await createEvent('Spring fair');
console.log(event.id);
