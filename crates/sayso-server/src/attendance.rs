//! Who is there to answer: while a page follows the stream, the store says so, and hooks' questions wait in the queue.

use crate::app::App;
use crate::clock::now_ms;
use sayso_gate::approval::{HEARTBEAT_MS, Presence};
use sayso_policy::Person;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Who is there, with how many pages.
#[derive(Default)]
pub(crate) struct Attendance {
    seats: Mutex<BTreeMap<String, (Person, usize)>>,
}

impl Attendance {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (Person, usize)>> {
        // Nothing here is left half done by a panic.
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn people(&self) -> Vec<Person> {
        self.lock().values().map(|(person, _)| person.clone()).collect()
    }
}

/// Somebody is there as long as this lives.
pub(crate) struct Seat {
    app: Arc<App>,
    name: String,
}

/// Takes a seat, and has the store know before anything else happens.
pub(crate) async fn sit(app: &Arc<App>, person: &Person) -> Seat {
    app.attendance.lock().entry(person.name.clone()).or_insert_with(|| (person.clone(), 0)).1 += 1;
    say(app, vec![person.clone()]).await;
    Seat { app: Arc::clone(app), name: person.name.clone() }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.app.attendance.lock();
        if let Some((_, pages)) = seats.get_mut(&self.name) {
            *pages = pages.saturating_sub(1);
        }
    }
}

/// Says again and again who is there, and at once who left.
pub(crate) async fn keep(app: Arc<App>) {
    let mut rest = tokio::time::interval(Duration::from_millis(HEARTBEAT_MS / 2));
    loop {
        rest.tick().await;
        let mut gone = Vec::new();
        app.attendance.lock().retain(|name, (_, pages)| {
            let stays = *pages > 0;
            if !stays {
                gone.push(name.clone());
            }
            stays
        });
        leave(&app, gone).await;
        say(&app, app.attendance.people()).await;
    }
}

/// The server stops: nobody is there any more.
pub(crate) async fn close(app: &Arc<App>) {
    let names = app.attendance.people().into_iter().map(|person| person.name).collect();
    leave(app, names).await;
}

fn id(name: &str) -> String {
    format!("server-{}-{name}", std::process::id())
}

async fn say(app: &Arc<App>, people: Vec<Person>) {
    if people.is_empty() {
        return;
    }
    let store = app.store();
    // If it cannot be said now, it is said again in a moment.
    let _ = tokio::task::spawn_blocking(move || {
        for person in people {
            let presence = Presence { id: id(&person.name), person, via: "page".to_owned() };
            let _ = store.attend(&presence, now_ms());
        }
    })
    .await;
}

async fn leave(app: &Arc<App>, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    let store = app.store();
    // If it fails, whoever waits for them notices in a few seconds.
    let _ = tokio::task::spawn_blocking(move || names.iter().for_each(|name| drop(store.leave(&id(name))))).await;
}
