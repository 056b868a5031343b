export const texts = {
  heading: 'Your ticket',
  title: '{name} · ticket',
  loading: 'Reading your ticket …',
  servedBy: 'This page is served by {operator}.',
  help: 'Help',
  code: 'The code of your ticket',
  unnamed: 'Your event',
  showCode: 'Show this code at the door. Whoever has it can enter, so give it to nobody.',
  expired: 'This ticket has expired and admits nobody any more.',
  guest: 'Guest',
  start: 'Begins',
  end: 'Ends',
  place: 'Place',
  offline: 'This page also opens without a connection, by the same link.',
  incompleteTitle: 'This link is not complete',
  incompleteText:
    'Open the whole link to your ticket, with everything after the # sign. If it still fails, ask whoever gave it to you.',
};
