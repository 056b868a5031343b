const { TALLYSTICK, TALLYSTICK_KEY = '' } = process.env;

// In a page this is location.href. Here it is the link of the first NFT that nobody has claimed.
const nfts = await fetch(`${TALLYSTICK}/v1/api/nft?claimStatus=unclaimed&limit=1`, {
  headers: { 'x-api-key': TALLYSTICK_KEY },
}).then((response) => response.json());
const link = new URL(nfts[0].url);

const nftId = link.pathname.split('/').at(-1);
const secret = decodeURIComponent(link.hash.slice(1));

async function ask(path: string, body: object) {
  const response = await fetch(`${TALLYSTICK}/claim/v1/api/claims/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.code}: ${answer.detail}`);
  return answer;
}

let claim = await ask(`${nftId}/state`, { secret });
console.log(`${claim.name}, no. ${claim.serial}`);

if (claim.isClaimable) {
  claim = await ask(`${nftId}`, { secret, recipient: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' });
}
while (claim.claimStatus === 'queued' || claim.claimStatus === 'submitted') {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  claim = await ask(`${nftId}/state`, { secret });
}
console.log(claim.claimStatus, claim.mintedTx ?? claim.mintError);
