//! Creates an event, changes it in three ways, admits somebody, and deletes it. Run it with: npm run sdk
use client::apis::attendees_api::add_attendee;
use client::apis::configuration::{ApiKey, Configuration};
use client::apis::eligibility_api::{create_challenge, get_eligibility};
use client::apis::events_api::{create_event, delete_event, get_event, update_event};
use client::apis::tickets_api::{check_in_attendees, get_ticket};
use client::apis::{Error, ResponseContent};
use client::models::{
    AddAttendeeRequest, ChallengeRequest, CheckInRequest, CheckInStatus, CreateEventRequest,
    Problem, ProblemCode, UpdateEventRequest,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut api = Configuration::new();
    api.base_path = std::env::var("SDK_BASE_URL")?;
    api.api_key = Some(ApiKey {
        prefix: None,
        key: std::env::var("SDK_KEY")?,
    });
    let mut body = CreateEventRequest::new("SDK proof".to_owned());
    body.max_attendees = Some(Some(1));
    let id = create_event(&api, body, None).await?.id.to_string();

    // recipe
    let mut event = UpdateEventRequest::new();
    event.max_attendees = Some(Some(5)); // a value
    // end
    let changed = update_event(&api, &id, None, Some(event.clone())).await?;
    assert_eq!(changed.max_attendees, Some(5));
    // recipe
    event.max_attendees = None; // left out: it stays as it is
    // end
    let changed = update_event(&api, &id, None, Some(event.clone())).await?;
    assert_eq!(changed.max_attendees, Some(5));
    // recipe
    event.max_attendees = Some(None); // null: no limit any more
    // end
    let changed = update_event(&api, &id, None, Some(event)).await?;
    assert_eq!(changed.max_attendees, None);

    let wallet = std::env::var("SDK_WALLET")?;
    assert!(get_eligibility(&api, &id, &wallet).await?.may_attend);
    let mut asked = ChallengeRequest::new(wallet.clone());
    asked.chain_id = Some(Some(31337));
    create_challenge(&api, &id, asked).await?;
    let mut guest = AddAttendeeRequest::new("user-7421".to_owned());
    guest.wallet = Some(Some(wallet));
    add_attendee(&api, &id, guest, None).await?;
    let ticket = get_ticket(&api, &id, "user-7421").await?.ticket;
    let door = check_in_attendees(&api, &id, CheckInRequest::new(vec![ticket]), None).await?;
    assert_eq!(door.items[0].status, CheckInStatus::Admitted);

    delete_event(&api, &id, None).await?;
    let unknown = uuid::Uuid::new_v4().to_string();
    let answer = get_event(&api, &unknown).await;
    // The `entity` beside it is the first variant that fits, whatever the status.
    let Err(Error::ResponseError(ResponseContent { status, content, .. })) = answer else {
        return Err("an unknown event was found".into());
    };
    assert_eq!(status.as_u16(), 404);
    let problem: Problem = serde_json::from_str(&content)?;
    assert_eq!(problem.code, ProblemCode::EventNotFound);
    Ok(())
}
