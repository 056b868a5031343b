import json
import os
import time
from urllib.request import Request, urlopen


def call(path, sent=None):
    request = Request(
        os.environ["TALLYSTICK"] + "/v1/api" + path,
        method="GET" if sent is None else "POST",
        headers={
            "x-api-key": os.environ["TALLYSTICK_KEY"],
            "Content-Type": "application/json",
        },
        data=None if sent is None else json.dumps(sent).encode(),
    )
    with urlopen(request) as response:
        return json.load(response)


# The first of your assets that may be claimed
rwa = call("/rwa?isClaimable=true&limit=1")["rwas"][0]

# A new NFT of it, queued for minting to this wallet
recipient = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
nft_id = call(f"/rwa/{rwa['id']}/mint", {"recipient": recipient})["nftId"]

# Until it is on the chain
nft = call(f"/nft/{nft_id}")
while nft["claimStatus"] in ("queued", "submitted"):
    print(nft["claimStatus"], nft["mintNote"] or "")
    time.sleep(2)
    nft = call(f"/nft/{nft_id}")
print(nft["claimStatus"], nft["mintError"] or nft["mintedTx"], nft["mintedBlock"])
