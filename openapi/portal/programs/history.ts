const query = new URLSearchParams({
  address: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  chainId: '31337',
});

let count = 0;
do {
  const response = await fetch(`${process.env.TALLYSTICK}/blockchain/v1/api/wallet/history?${query}`, {
    headers: { 'x-api-key': process.env.TALLYSTICK_KEY ?? '' },
  });
  const { history } = await response.json();
  for (const { block_number, summary } of history.result) console.log(block_number, summary);
  count += history.result.length;
  query.set('cursor', history.cursor ?? '');
} while (query.get('cursor') !== '');
console.log(`${count} transactions`);
