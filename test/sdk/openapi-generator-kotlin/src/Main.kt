import client.apis.EventsApi
import client.infrastructure.ClientException
import client.infrastructure.RequestConfig
import client.infrastructure.Serializer
import client.infrastructure.Success
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

/** Creates an event, changes it in three ways, and deletes it. Run it with: npm run sdk */
fun main() {
    val api = Events(System.getenv("SDK_BASE_URL"))
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

    api.deleteEvent(id)
    try {
        api.getEvent(UUID.randomUUID())
        error("an unknown event was found")
    } catch (failure: ClientException) {
        check(failure.statusCode == 404) { "an unknown event is not 404" }
    }
}
