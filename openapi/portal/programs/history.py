import json
import os
from urllib.parse import urlencode
from urllib.request import Request, urlopen

query = {
    "address": "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
    "chainId": "31337",
}
count = 0
while query.get("cursor") != "":
    request = Request(
        os.environ["TALLYSTICK"] + "/blockchain/v1/api/wallet/history?" + urlencode(query),
        headers={"x-api-key": os.environ["TALLYSTICK_KEY"]},
    )
    with urlopen(request) as response:
        history = json.load(response)["history"]
    for record in history["result"]:
        print(record["block_number"], record["summary"])
    count += len(history["result"])
    query["cursor"] = history.get("cursor", "")
print(f"{count} transactions")
