export const texts = {
  heading: 'Ihre Eintrittskarte',
  title: '{name} · Eintrittskarte',
  loading: 'Ihre Eintrittskarte wird gelesen …',
  servedBy: 'Diese Seite wird von {operator} bereitgestellt.',
  help: 'Hilfe',
  code: 'Der Code Ihrer Eintrittskarte',
  unnamed: 'Ihre Veranstaltung',
  showCode: 'Zeigen Sie diesen Code am Einlass. Jeder, der ihn hat, kann eintreten: geben Sie ihn niemandem.',
  expired: 'Diese Eintrittskarte ist abgelaufen und lässt niemanden mehr ein.',
  guest: 'Gast',
  start: 'Beginn',
  end: 'Ende',
  place: 'Ort',
  offline: 'Diese Seite öffnet sich auch ohne Verbindung, über denselben Link.',
  incompleteTitle: 'Dieser Link ist nicht vollständig',
  incompleteText:
    'Öffnen Sie den ganzen Link zu Ihrer Eintrittskarte, mit allem nach dem Zeichen #. Wenn das nicht hilft, fragen Sie, wer ihn Ihnen gegeben hat.',
};
