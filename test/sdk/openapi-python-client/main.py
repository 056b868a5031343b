"""Creates an event, changes it in three ways, and deletes it. Run it with: npm run sdk"""

import os
from uuid import uuid4

from client import AuthenticatedClient
from client.api.events import create_event, delete_event, get_event, update_event
from client.models import CreateEventRequest, Event, Problem, UpdateEventRequest

api = AuthenticatedClient(
    base_url=os.environ["SDK_BASE_URL"],
    token=os.environ["SDK_KEY"],
    auth_header_name="x-api-key",
    prefix="",
)
made = create_event.sync(client=api, body=CreateEventRequest(name="SDK proof", max_attendees=1))
assert isinstance(made, Event), made
event_id = made.id


def change(event: UpdateEventRequest) -> int | None:
    changed = update_event.sync(event_id, client=api, body=event)
    assert isinstance(changed, Event), changed
    return changed.max_attendees


# recipe
event = UpdateEventRequest(max_attendees=5)  # a value
# end
assert change(event) == 5
# recipe
event = UpdateEventRequest()  # left out: it stays as it is
# end
assert change(event) == 5
# recipe
event = UpdateEventRequest(max_attendees=None)  # null: no limit any more
# end
assert change(event) is None

assert delete_event.sync_detailed(event_id, client=api).status_code == 204
missing = get_event.sync_detailed(uuid4(), client=api)
assert missing.status_code == 404
assert isinstance(missing.parsed, Problem) and missing.parsed.code == "event_not_found"
