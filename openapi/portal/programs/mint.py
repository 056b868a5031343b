import json
import os
import time
from urllib.request import Request, urlopen


def call(path, method="GET"):
    request = Request(
        os.environ["TALLYSTICK"] + "/v1/api" + path,
        method=method,
        headers={"x-api-key": os.environ["TALLYSTICK_KEY"]},
    )
    with urlopen(request) as response:
        return json.load(response)


# The first of your assets that may be claimed
rwa = call("/rwa?isClaimable=true&limit=1")["rwas"][0]

# A new NFT of it, queued for minting
nft_id = call(f"/rwa/{rwa['id']}/mint", "POST")["nftId"]

# Until it is on the chain
nft = call(f"/nft/{nft_id}")
while nft["claimStatus"] in ("queued", "submitted"):
    print(nft["claimStatus"], nft["mintNote"] or "")
    time.sleep(2)
    nft = call(f"/nft/{nft_id}")
print(nft["claimStatus"], nft["mintError"] or nft["mintedTx"], nft["mintedBlock"])
