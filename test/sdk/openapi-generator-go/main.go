// Creates an event, changes it in three ways, admits somebody, and deletes it. Run it with: npm run sdk
package main

import (
	"context"
	"errors"
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

func main() {
	settings := client.NewConfiguration()
	settings.Servers = client.ServerConfigurations{{URL: os.Getenv("SDK_BASE_URL")}}
	settings.AddDefaultHeader("x-api-key", os.Getenv("SDK_KEY"))
	all := client.NewAPIClient(settings)
	api := all.EventsAPI
	ctx := context.Background()

	body := client.NewCreateEventRequest("SDK proof")
	body.SetMaxAttendees(1)
	made, _, err := api.CreateEvent(ctx).CreateEventRequest(*body).Execute()
	check(err == nil, "the event was not created")
	change := func(body *client.UpdateEventRequest) (int32, bool) {
		changed, _, err := api.UpdateEvent(ctx, made.Id).UpdateEventRequest(*body).Execute()
		check(err == nil, "the event was not changed")
		value := changed.MaxAttendees.Get()
		if value == nil {
			return 0, false
		}
		return *value, true
	}

	// recipe
	event := client.NewUpdateEventRequest()
	event.SetMaxAttendees(5) // a value
	// end
	value, _ := change(event)
	check(value == 5, "5 was not sent")
	// recipe
	event.UnsetMaxAttendees() // left out: it stays as it is
	// end
	value, _ = change(event)
	check(value == 5, "a field that was left out was sent")
	// recipe
	event.SetMaxAttendeesNil() // null: no limit any more
	// end
	_, limited := change(event)
	check(!limited, "null was not sent")

	wallet := os.Getenv("SDK_WALLET")
	may, _, err := all.EligibilityAPI.GetEligibility(ctx, made.Id).Wallet(wallet).Execute()
	check(err == nil && may.MayAttend, "the wallet may not attend")
	asked := client.NewChallengeRequest(wallet)
	asked.SetChainId(31337)
	_, _, err = all.EligibilityAPI.CreateChallenge(ctx, made.Id).ChallengeRequest(*asked).Execute()
	check(err == nil, "there is no challenge")
	guest := client.NewAddAttendeeRequest("user-7421")
	guest.SetWallet(wallet)
	_, _, err = all.AttendeesAPI.AddAttendee(ctx, made.Id).AddAttendeeRequest(*guest).Execute()
	check(err == nil, "the attendee was not added")
	ticket, _, err := all.TicketsAPI.GetTicket(ctx, made.Id, guest.AttendeeId).Execute()
	check(err == nil, "there is no ticket")
	scanned := client.NewCheckInRequest([]string{ticket.Ticket})
	door, _, err := all.TicketsAPI.CheckInAttendees(ctx, made.Id).CheckInRequest(*scanned).Execute()
	check(err == nil && door.Items[0].Status == client.ADMITTED, "the ticket admitted nobody")

	_, err = api.DeleteEvent(ctx, made.Id).Execute()
	check(err == nil, "the event was not deleted")
	_, answer, err := api.GetEvent(ctx, uuid.NewString()).Execute()
	check(answer != nil && answer.StatusCode == 404, "an unknown event is not 404")
	var failure *client.GenericOpenAPIError
	check(errors.As(err, &failure), "the failure has another type")
	problem, ok := failure.Model().(client.Problem)
	check(ok && problem.Code == "event_not_found", "the problem was not read")
}
