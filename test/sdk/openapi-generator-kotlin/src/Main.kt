import client.apis.AttendeesApi
import client.apis.EligibilityApi
import client.apis.EventsApi
import client.apis.TicketsApi
import client.infrastructure.ClientException
import client.infrastructure.RequestConfig
import client.infrastructure.Serializer
import client.infrastructure.Success
import client.models.AddAttendeeRequest
import client.models.ChallengeRequest
import client.models.CheckInRequest
import client.models.CheckInStatus
import client.models.CreateEventRequest
import client.models.Event
import client.models.UpdateEventRequest
import java.util.UUID

// recipe
/** The generated class leaves null out; this sends the fields that are named, null as null. */
class Events(address: String) : EventsApi(address) {
    fun change(id: UUID, vararg fields: Pair<String, Any?>): Event {
        val json = Serializer.moshi.adapter(Map::class.java).serializeNulls().toJson(mapOf(*fields))
        val own = updateEventRequestConfig(id, null, null)
        val call = RequestConfig(own.method, own.path, own.headers, body = json.toByteArray(), requiresAuthentication = true)
        val answer = request<ByteArray, Event>(call)
        return (answer as? Success<Event?>)?.data ?: error("${answer.statusCode}")
    }
}
// end

/** Creates an event, changes it in three ways, admits somebody, and deletes it. Run it with: npm run sdk */
fun main() {
    val address = System.getenv("SDK_BASE_URL")
    val api = Events(address)
    client.infrastructure.ApiClient.apiKey["x-api-key"] = System.getenv("SDK_KEY")
    val id = api.createEvent(CreateEventRequest(name = "SDK proof", maxAttendees = 1)).id

    // recipe

    var event = api.updateEvent(id, updateEventRequest = UpdateEventRequest(maxAttendees = 5)) // a value
    // end
    check(event.maxAttendees == 5) { "5 was not sent" }
    // recipe
    event = api.updateEvent(id, updateEventRequest = UpdateEventRequest()) // left out: it stays as it is
    // end
    check(event.maxAttendees == 5) { "a field that was left out was sent" }
    // recipe
    event = api.change(id, "maxAttendees" to null) // null: no limit any more
    // end
    check(event.maxAttendees == null) { "null was not sent" }

    val wallet = System.getenv("SDK_WALLET")
    val eligibility = EligibilityApi(address)
    check(eligibility.getEligibility(id, wallet).mayAttend) { "the wallet may not attend" }
    eligibility.createChallenge(id, ChallengeRequest(wallet = wallet, chainId = 31337))
    AttendeesApi(address).addAttendee(id, AddAttendeeRequest(attendeeId = "user-7421", wallet = wallet))
    val tickets = TicketsApi(address)
    val ticket = tickets.getTicket(id, "user-7421").ticket
    val door = tickets.checkInAttendees(id, CheckInRequest(listOf(ticket)))
    check(door.items.first().status == CheckInStatus.admitted) { "the ticket admitted nobody" }

    api.deleteEvent(id)
    try {
        api.getEvent(UUID.randomUUID())
        error("an unknown event was found")
    } catch (failure: ClientException) {
        check(failure.statusCode == 404) { "an unknown event is not 404" }
    }
}
