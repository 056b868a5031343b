"""Creates an event, changes it in three ways, admits somebody, and deletes it. Run it with: npm run sdk"""

import json
import os
from uuid import uuid4

from client import (
    AddAttendeeRequest,
    ApiClient,
    AttendeesApi,
    ChallengeRequest,
    CheckInRequest,
    CheckInStatus,
    Configuration,
    CreateEventRequest,
    EligibilityApi,
    EventsApi,
    TicketsApi,
    UpdateEventRequest,
)
from client.exceptions import NotFoundException

settings = Configuration(host=os.environ["SDK_BASE_URL"], api_key={"ApiKey": os.environ["SDK_KEY"]})
sender = ApiClient(settings)
api = EventsApi(sender)
made = api.create_event(CreateEventRequest(name="SDK proof", max_attendees=1))


def change(event: UpdateEventRequest) -> int | None:
    return api.update_event(made.id, update_event_request=event).max_attendees


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
assert EligibilityApi(sender).get_eligibility(made.id, wallet).may_attend
assert EligibilityApi(sender).create_challenge(made.id, ChallengeRequest(wallet=wallet, chain_id=31337)).message
AttendeesApi(sender).add_attendee(made.id, AddAttendeeRequest(attendee_id="user-7421", wallet=wallet))
ticket = TicketsApi(sender).get_ticket(made.id, "user-7421").ticket
door = TicketsApi(sender).check_in_attendees(made.id, CheckInRequest(items=[ticket]))
assert door.items[0].status == CheckInStatus.ADMITTED

api.delete_event(made.id)
try:
    api.get_event(uuid4())
    raise AssertionError("an unknown event was found")
except NotFoundException as error:
    assert json.loads(error.body or "")["code"] == "event_not_found"
