// Creates an event, changes it in three ways, admits somebody, and deletes it. Run it with: npm run sdk
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"
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

func main() {
	ctx := context.Background()
	withKey := client.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("x-api-key", os.Getenv("SDK_KEY"))
		return nil
	})
	api := must(client.NewClientWithResponses(os.Getenv("SDK_BASE_URL"), withKey))
	body := client.CreateEventRequest{Name: "SDK proof", MaxAttendees: nullable.NewNullableWithValue[int32](1)}
	made := must(api.CreateEventWithResponse(ctx, nil, body))
	check(made.JSON201 != nil, "the event was not created: "+made.Status())
	id := made.JSON201.Id
	change := func(body client.UpdateEventRequest) nullable.Nullable[int32] {
		changed := must(api.UpdateEventWithResponse(ctx, id, nil, body))
		check(changed.JSON200 != nil, "the event was not changed: "+changed.Status())
		return changed.JSON200.MaxAttendees
	}

	// recipe
	event := client.UpdateEventRequest{}
	event.MaxAttendees = nullable.NewNullableWithValue[int32](5) // a value
	// end
	check(must(change(event).Get()) == 5, "5 was not sent")
	// recipe
	event = client.UpdateEventRequest{} // left out: it stays as it is
	// end
	check(must(change(event).Get()) == 5, "a field that was left out was sent")
	// recipe
	event.MaxAttendees.SetNull() // null: no limit any more
	// end
	check(change(event).IsNull(), "null was not sent")

	wallet := os.Getenv("SDK_WALLET")
	may := must(api.GetEligibilityWithResponse(ctx, id, &client.GetEligibilityParams{Wallet: wallet}))
	check(may.JSON200 != nil && may.JSON200.MayAttend, "the wallet may not attend: "+may.Status())
	challenge := must(api.CreateChallengeWithResponse(ctx, id, client.ChallengeRequest{Wallet: wallet, ChainId: nullable.NewNullableWithValue[int64](31337)}))
	check(challenge.JSON200 != nil, "there is no challenge: "+challenge.Status())
	guest := client.AddAttendeeRequest{AttendeeId: "user-7421", Wallet: nullable.NewNullableWithValue(wallet)}
	added := must(api.AddAttendeeWithResponse(ctx, id, nil, guest))
	check(added.JSON201 != nil, "the attendee was not added: "+added.Status())
	ticket := must(api.GetTicketWithResponse(ctx, id, guest.AttendeeId))
	check(ticket.JSON200 != nil, "there is no ticket: "+ticket.Status())
	scanned := client.CheckInRequest{Items: []string{ticket.JSON200.Ticket}}
	door := must(api.CheckInAttendeesWithResponse(ctx, id, nil, scanned))
	check(door.JSON200 != nil && door.JSON200.Items[0].Status == client.Admitted, "the ticket admitted nobody")

	check(must(api.DeleteEventWithResponse(ctx, id, nil)).StatusCode() == 204, "the event was not deleted")
	missing := must(api.GetEventWithResponse(ctx, uuid.New()))
	check(missing.StatusCode() == 404, "an unknown event is not 404")
	problem := missing.ApplicationproblemJSON404
	check(problem != nil && problem.Code == "event_not_found", "the problem was not read")
}
