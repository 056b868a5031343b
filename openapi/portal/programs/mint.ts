const base = `${process.env.TALLYSTICK}/v1/api`;
const headers = { 'x-api-key': process.env.TALLYSTICK_KEY ?? '', 'content-type': 'application/json' };

async function call(path: string, sent?: object) {
  const post = sent && { method: 'POST', body: JSON.stringify(sent) };
  const response = await fetch(`${base}${path}`, { headers, ...post });
  const body = await response.json();
  if (!response.ok) throw new Error(`${body.code}: ${body.detail}`);
  return body;
}

// The first of your assets that may be claimed
const { rwas } = await call('/rwa?isClaimable=true&limit=1');
if (rwas.length === 0) throw new Error('none of your assets may be claimed');

// A new NFT of it, queued for minting to this wallet
const recipient = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const { nftId } = await call(`/rwa/${rwas[0].id}/mint`, { recipient });

// Until it is on the chain
let nft = await call(`/nft/${nftId}`);
while (nft.claimStatus === 'queued' || nft.claimStatus === 'submitted') {
  console.log(nft.claimStatus, nft.mintNote ?? '');
  await new Promise((resolve) => setTimeout(resolve, 2000));
  nft = await call(`/nft/${nftId}`);
}
console.log(nft.claimStatus, nft.mintError ?? nft.mintedTx, nft.mintedBlock);
