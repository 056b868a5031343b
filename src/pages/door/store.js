/*
 * What this phone keeps, in IndexedDB: events, revoked tickets and scans. Each write is one transaction that has
 * reached the disk when its function returns, so several tabs agree and a closed page loses nothing.
 *
 * A scan is `{ scanId, eventId, kind, at, gate, attendeeId, label, ticket | typed | undoes }`, and has `shown`, what it
 * came to on this phone, and `waits`, which is 1 until the service answers: no index has booleans. Then it has `answer`, or
 * `refused`, a code that says why the service does not accept it.
 */

const nameOfDatabase = 'door';
const forgottenAfterMs = 30 * 86_400_000;

/** Opens the store. @throws Error where the browser keeps nothing, such as in some private windows */
export async function openStore() {
  const db = await openDatabase();
  return { ...eventsIn(db), ...scansIn(db) };
}

function openDatabase() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(nameOfDatabase, 1);
    opening.onupgradeneeded = () => createStores(opening.result);
    opening.onsuccess = () => {
      const db = opening.result;
      // A newer release in another tab may change the stores.
      db.onversionchange = () => db.close();
      resolve(db);
    };
    opening.onerror = () => reject(opening.error);
  });
}

function createStores(db) {
  db.createObjectStore('events', { keyPath: 'eventId' });
  db.createObjectStore('revoked', { keyPath: ['eventId', 'ticketId'] });
  const scans = db.createObjectStore('scans', { keyPath: 'scanId' });
  scans.createIndex('attendee', ['eventId', 'attendeeId']);
  scans.createIndex('waiting', ['eventId', 'waits', 'at']);
  scans.createIndex('refused', ['eventId', 'refused']);
  scans.createIndex('time', ['eventId', 'at']);
}

const resultOf = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Runs work in a transaction. @returns what the work returns, when all of it is stored */
async function within(db, names, mode, work) {
  const transaction = db.transaction(names, mode, { durability: 'strict' });
  const ended = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
  const [result] = await Promise.all([work(transaction), ended]);
  return result;
}

function eventsIn(db) {
  return {
    readEvent: (eventId) =>
      within(db, ['events'], 'readonly', (all) => resultOf(all.objectStore('events').get(eventId))),

    /** Changes the named fields of an event, which is made where there is none. */
    changeEvent: (eventId, changes) =>
      within(db, ['events'], 'readwrite', async (all) => {
        const events = all.objectStore('events');
        const earlier = (await resultOf(events.get(eventId))) || { eventId, revokedCursor: '' };
        const event = { ...earlier, ...changes };
        events.put(event);
        return event;
      }),

    /** Adds a page of revoked tickets, and how far the list was read. */
    addRevoked: (eventId, ticketIds, revokedCursor) =>
      within(db, ['events', 'revoked'], 'readwrite', async (all) => {
        const events = all.objectStore('events');
        for (const ticketId of ticketIds) all.objectStore('revoked').put({ eventId, ticketId });
        events.put({ ...(await resultOf(events.get(eventId))), revokedCursor });
      }),

    isRevoked: async (eventId, ticketId) => {
      const read = (all) => resultOf(all.objectStore('revoked').count([eventId, ticketId]));
      return (await within(db, ['revoked'], 'readonly', read)) > 0;
    },

    /** Deletes events that were not opened for a month, with their scans. An event with a scan that waits stays. */
    forgetOldEvents: (now) =>
      within(db, ['events', 'revoked', 'scans'], 'readwrite', async (all) => {
        const events = await resultOf(all.objectStore('events').getAll());
        for (const { eventId, openedAt } of events) {
          const waiting = await resultOf(
            all.objectStore('scans').index('waiting').count(rangeOf(eventId, 1)),
          );
          if (now - openedAt < forgottenAfterMs || waiting > 0) continue;
          all.objectStore('events').delete(eventId);
          all.objectStore('revoked').delete(rangeOf(eventId));
          const scanIds = await resultOf(all.objectStore('scans').index('time').getAllKeys(rangeOf(eventId)));
          for (const scanId of scanIds) all.objectStore('scans').delete(scanId);
        }
      }),
  };
}

/** All keys that begin with these parts. */
const rangeOf = (...parts) => IDBKeyRange.bound(parts, [...parts, []]);

function scansIn(db) {
  const waiting = (all) => all.objectStore('scans').index('waiting');
  return {
    /**
     * Adds a scan.
     * @param decide returns more fields of the scan, by the earlier scans of its attendee
     * @returns the stored scan
     */
    addScan: (made, decide = () => ({})) =>
      within(db, ['scans'], 'readwrite', async (all) => {
        const scans = all.objectStore('scans');
        const attendee = [made.eventId, made.attendeeId];
        const scan = { ...made, ...decide(await resultOf(scans.index('attendee').getAll(attendee))) };
        scans.add(scan);
        return scan;
      }),

    /** Changes scans by their ids. @returns the changed scans */
    changeScans: (changes) =>
      within(db, ['scans'], 'readwrite', (all) => {
        const scans = all.objectStore('scans');
        return Promise.all(
          changes.map(async ([scanId, change]) => {
            const scan = { ...(await resultOf(scans.get(scanId))), ...change };
            if (scan.waits === undefined) delete scan.waits;
            scans.put(scan);
            return scan;
          }),
        );
      }),

    countWaiting: (eventId) =>
      within(db, ['scans'], 'readonly', (all) => resultOf(waiting(all).count(rangeOf(eventId, 1)))),

    countRefused: (eventId) =>
      within(db, ['scans'], 'readonly', (all) =>
        resultOf(all.objectStore('scans').index('refused').count(rangeOf(eventId))),
      ),

    /** The scans that wait, newest first. */
    listWaiting: (eventId, most = Number.POSITIVE_INFINITY) =>
      within(db, ['scans'], 'readonly', (all) => newest(waiting(all), rangeOf(eventId, 1), most)),

    /** The newest scans of an event. */
    listRecent: (eventId, most) =>
      within(db, ['scans'], 'readonly', (all) =>
        newest(all.objectStore('scans').index('time'), rangeOf(eventId), most),
      ),

    /** The scans that wait or were refused: of an event, or of all of them. */
    listUnaccepted: (eventId) =>
      within(db, ['scans'], 'readonly', async (all) => {
        const scans = await resultOf(all.objectStore('scans').getAll());
        const ofEvent = scans.filter((scan) => eventId === undefined || scan.eventId === eventId);
        return ofEvent.filter(({ waits, refused }) => waits === 1 || refused !== undefined);
      }),
  };
}

function newest(index, range, most) {
  return new Promise((resolve, reject) => {
    const found = [];
    const opening = index.openCursor(range, 'prev');
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const cursor = opening.result;
      if (cursor === null || found.length >= most) return resolve(found);
      found.push(cursor.value);
      cursor.continue();
    };
  });
}
