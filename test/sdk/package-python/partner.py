"""Calls each document of a service with the installed package. Run it with: npm run sdk -- --packages DIRECTORY"""

import json
import os
from importlib.resources import files

# recipe
from tallystick_client import Tallystick
from tallystick_client.rwa.api.nfts import list_nfts

# end
from tallystick_client.blockchain.api.networks import list_networks
from tallystick_client.blockchain.models import NetworkList
from tallystick_client.claim.api.claims import get_claim
from tallystick_client.claim.models import Claim, ClaimStateRequest
from tallystick_client.events.api.events import create_event, delete_event
from tallystick_client.events.models import CreateEventRequest, Event
from tallystick_client.news.api.feed import list_news
from tallystick_client.news.models import NewsPage, NewsType

base_url, api_key = os.environ["SDK_BASE_URL"], os.environ["SDK_KEY"]

# recipe
tallystick = Tallystick(base_url, api_key)
nfts = list_nfts.sync(client=tallystick.rwa, claimed=False)
# end
assert isinstance(nfts, list) and nfts, nfts
nft = nfts[0]
assert nft.secret is not None

claim = get_claim.sync(nft.id, client=tallystick.claim, body=ClaimStateRequest(secret=nft.secret))
assert isinstance(claim, Claim) and claim.nft_id == nft.id, claim

networks = list_networks.sync(client=tallystick.blockchain)
assert isinstance(networks, NetworkList) and networks.result[0].chain_id == 31337, networks

made = create_event.sync(client=tallystick.events, body=CreateEventRequest(name="Package proof"))
assert isinstance(made, Event), made
news = list_news.sync(client=tallystick.news, types=[NewsType.NEWS_EVENT_CREATED])
assert isinstance(news, NewsPage) and all(each.type_ == NewsType.NEWS_EVENT_CREATED for each in news.news), news
assert delete_event.sync_detailed(made.id, client=tallystick.events).status_code == 204

for area in ["blockchain", "claim", "events", "news", "rwa"]:
    document = json.loads(files("tallystick_client").joinpath("documents", f"{area}.json").read_text())
    assert document["openapi"].startswith("3.1") and document["paths"]
