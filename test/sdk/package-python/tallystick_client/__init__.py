"""Typed clients of a Tallystick service, one for each of its documents."""

from . import blockchain, claim, events, news, rwa
from .base_paths import BASE_PATHS


class Tallystick:
    """The clients of a service. Hand one to an operation of its area, such as `rwa.api.nfts.list_nfts`."""

    def __init__(self, base_url: str, api_key: str) -> None:
        address = base_url.rstrip("/")
        key = {"x-api-key": api_key}
        self.blockchain = blockchain.Client(address + BASE_PATHS["blockchain"], headers=key)
        self.claim = claim.Client(address + BASE_PATHS["claim"])
        self.events = events.Client(address + BASE_PATHS["events"], headers=key)
        self.news = news.Client(address + BASE_PATHS["news"], headers=key)
        self.rwa = rwa.Client(address + BASE_PATHS["rwa"], headers=key)
