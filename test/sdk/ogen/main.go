// Creates an event, changes it in three ways, and deletes it. Run it with: npm run sdk
package main

import (
	"context"
	"log"
	"os"

	"github.com/google/uuid"
	"tallystick.example/proof/client"
)

func check(ok bool, what string) {
	if !ok {
		log.Fatal(what)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

type key string

func (own key) ApiKey(context.Context, client.OperationName) (client.ApiKey, error) {
	return client.ApiKey{APIKey: string(own)}, nil
}

func main() {
	ctx := context.Background()
	api := must(client.NewClient(os.Getenv("SDK_BASE_URL"), key(os.Getenv("SDK_KEY"))))
	body := client.CreateEventRequest{Name: "SDK proof", MaxAttendees: client.NewOptNilInt32(1)}
	made, ok := must(api.CreateEvent(ctx, &body, client.CreateEventParams{})).(*client.EventHeaders)
	check(ok, "the event was not created")
	id := made.Response.ID
	change := func(event client.UpdateEventRequest) client.NilInt32 {
		params := client.UpdateEventParams{EventId: id}
		changed, ok := must(api.UpdateEvent(ctx, client.NewOptUpdateEventRequest(event), params)).(*client.GetEventOKHeaders)
		check(ok, "the event was not changed")
		return changed.Response.MaxAttendees
	}

	// recipe
	event := client.UpdateEventRequest{}
	event.MaxAttendees.SetTo(5) // a value
	// end
	check(change(event).Value == 5, "5 was not sent")
	// recipe
	event = client.UpdateEventRequest{} // left out: it stays as it is
	// end
	check(change(event).Value == 5, "a field that was left out was sent")
	// recipe
	event.MaxAttendees.SetToNull() // null: no limit any more
	// end
	check(change(event).Null, "null was not sent")

	_, ok = must(api.DeleteEvent(ctx, client.DeleteEventParams{EventId: id})).(*client.DeleteEventNoContent)
	check(ok, "the event was not deleted")
	missing, ok := must(api.GetEvent(ctx, client.GetEventParams{EventId: uuid.New()})).(*client.EventNotFoundHeaders)
	check(ok && missing.Response.Code == "event_not_found", "the problem was not read")
}
