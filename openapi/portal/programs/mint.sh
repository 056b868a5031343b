# The first of your assets that may be claimed
RWA=$(curl -sS -G "$TALLYSTICK/v1/api/rwa" -H "x-api-key: $TALLYSTICK_KEY" \
  -d isClaimable=true -d limit=1 | sed -n 's/.*"rwas":\[{"id":"\([^"]*\)".*/\1/p')
[ -n "$RWA" ] || { echo "none of your assets may be claimed" >&2; exit 1; }

# A new NFT of it, queued for minting to this wallet
RECIPIENT=0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
NFT=$(curl -sS -X POST "$TALLYSTICK/v1/api/rwa/$RWA/mint" -H "x-api-key: $TALLYSTICK_KEY" \
  -H "Content-Type: application/json" -d "{\"recipient\":\"$RECIPIENT\"}" \
  | sed -n 's/.*"nftId":"\([^"]*\)".*/\1/p')

# Until it is on the chain
STATUS=queued
while [ "$STATUS" = queued ] || [ "$STATUS" = submitted ]; do
  sleep 2
  ANSWER=$(curl -sS "$TALLYSTICK/v1/api/nft/$NFT" -H "x-api-key: $TALLYSTICK_KEY")
  STATUS=$(echo "$ANSWER" | sed -n 's/.*"claimStatus":"\([^"]*\)".*/\1/p')
  echo "$STATUS"
done
echo "$ANSWER"
