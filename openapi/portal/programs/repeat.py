import json
import os
import time
import uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def create_event(name):
    key = str(uuid.uuid4())  # one key for one event, whatever happens
    for attempt in range(1, 6):
        request = Request(
            os.environ["TALLYSTICK"] + "/events/v1/api/event",
            method="POST",
            headers={
                "x-api-key": os.environ["TALLYSTICK_KEY"],
                "Content-Type": "application/json",
                "Idempotency-Key": key,
            },
            data=json.dumps({"name": name}).encode(),
        )
        pause = 2**attempt
        try:
            with urlopen(request, timeout=20) as response:
                return json.load(response)
        except HTTPError as error:
            retry_after = error.headers.get("Retry-After")  # also of 409 while the first request is at work
            if retry_after is None and error.code not in (408, 500, 502, 504):
                raise
            pause = int(retry_after or pause)
        except (OSError, HTTPException):
            pass  # no answer: nobody knows whether it was done
        time.sleep(pause)
    raise TimeoutError("not created")


print(create_event("Spring fair")["id"])
