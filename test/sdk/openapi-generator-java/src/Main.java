import client.ApiClient;
import client.ApiException;
import client.api.AttendeesApi;
import client.api.EligibilityApi;
import client.api.EventsApi;
import client.api.TicketsApi;
import client.model.AddAttendeeRequest;
import client.model.ChallengeRequest;
import client.model.CheckInRequest;
import client.model.CheckInStatus;
import client.model.CreateEventRequest;
import client.model.UpdateEventRequest;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/** Creates an event, changes it in three ways, admits somebody, and deletes it. Run it with: npm run sdk */
public final class Main {
  private static void check(boolean ok, String what) {
    if (!ok) throw new IllegalStateException(what);
  }

  public static void main(String[] arguments) throws ApiException {
    var settings = new ApiClient();
    settings.updateBaseUri(System.getenv("SDK_BASE_URL"));
    settings.setRequestInterceptor(request -> request.header("x-api-key", System.getenv("SDK_KEY")));
    var api = new EventsApi(settings);
    var made = api.createEvent(new CreateEventRequest().name("SDK proof").maxAttendees(1), null);

    // recipe
    var event = new UpdateEventRequest().maxAttendees(5); // a value
    // end
    check(Objects.equals(api.updateEvent(made.getId(), null, event).getMaxAttendees(), 5), "5 was not sent");
    // recipe
    event = new UpdateEventRequest(); // left out: it stays as it is
    // end
    check(
        Objects.equals(api.updateEvent(made.getId(), null, event).getMaxAttendees(), 5),
        "a field that was left out was sent");
    // recipe
    event = new UpdateEventRequest().maxAttendees(null); // null: no limit any more
    // end
    check(api.updateEvent(made.getId(), null, event).getMaxAttendees() == null, "null was not sent");

    var id = made.getId();
    var wallet = System.getenv("SDK_WALLET");
    var eligibility = new EligibilityApi(settings);
    check(eligibility.getEligibility(id, wallet).getMayAttend(), "the wallet may not attend");
    eligibility.createChallenge(id, new ChallengeRequest().wallet(wallet).chainId(31337L));
    var guest = new AddAttendeeRequest().attendeeId("user-7421").wallet(wallet);
    new AttendeesApi(settings).addAttendee(id, guest, null);
    var tickets = new TicketsApi(settings);
    var ticket = tickets.getTicket(id, "user-7421").getTicket();
    var door = tickets.checkInAttendees(id, new CheckInRequest().items(List.of(ticket)), null);
    check(door.getItems().get(0).getStatus() == CheckInStatus.ADMITTED, "the ticket admitted nobody");

    api.deleteEvent(made.getId(), null);
    try {
      api.getEvent(UUID.randomUUID());
      throw new IllegalStateException("an unknown event was found");
    } catch (ApiException error) {
      check(error.getCode() == 404, "an unknown event is not 404");
      check(error.getResponseBody().contains("event_not_found"), "the problem was not read");
    }
  }
}
