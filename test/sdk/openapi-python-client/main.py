"""Creates an event, changes it in three ways, admits somebody, and deletes it. Run it with: npm run sdk"""

import os
from uuid import uuid4

from client import AuthenticatedClient
from client.api.attendees import add_attendee
from client.api.eligibility import create_challenge, get_eligibility
from client.api.events import create_event, delete_event, get_event, update_event
from client.api.tickets import check_in_attendees, get_ticket
from client.models import (
    AddAttendeeRequest,
    Attendee,
    Challenge,
    ChallengeRequest,
    CheckInRequest,
    CheckInResult,
    CheckInStatus,
    CreateEventRequest,
    Eligibility,
    Event,
    Problem,
    Ticket,
    UpdateEventRequest,
)

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

wallet = os.environ["SDK_WALLET"]
may = get_eligibility.sync(event_id, client=api, wallet=wallet)
assert isinstance(may, Eligibility) and may.may_attend, may
challenge = create_challenge.sync(event_id, client=api, body=ChallengeRequest(wallet=wallet, chain_id=31337))
assert isinstance(challenge, Challenge), challenge
guest = AddAttendeeRequest(attendee_id="user-7421", wallet=wallet)
added = add_attendee.sync(event_id, client=api, body=guest)
assert isinstance(added, Attendee), added
ticket = get_ticket.sync(event_id, "user-7421", client=api)
assert isinstance(ticket, Ticket), ticket
door = check_in_attendees.sync(event_id, client=api, body=CheckInRequest(items=[ticket.ticket]))
assert isinstance(door, CheckInResult) and door.items[0].status == CheckInStatus.ADMITTED, door

assert delete_event.sync_detailed(event_id, client=api).status_code == 204
missing = get_event.sync_detailed(uuid4(), client=api)
assert missing.status_code == 404
assert isinstance(missing.parsed, Problem) and missing.parsed.code == "event_not_found"
