export const texts = {
  heading: 'An der Tür',
  title: '{name} · Tür',
  loading: 'Die Veranstaltung wird gelesen …',
  servedBy: 'Diese Seite wird von {operator} bereitgestellt.',
  help: 'Hilfe',
  lookAgain: 'Erneut nachsehen',

  kinds: 'Richtung',
  entry: 'Eingang',
  exit: 'Ausgang',
  picture: 'Was die Kamera sieht',
  startCamera: 'Kamera starten',
  cameraInsecure:
    'Browser geben die Kamera nur Seiten mit https. Öffnen Sie den Link so, wie Sie ihn bekommen haben.',
  cameraDenied:
    'Diese Seite darf die Kamera nicht benutzen. Erlauben Sie es in den Einstellungen des Browsers und starten Sie die Kamera erneut.',
  cameraMissing: 'Es wurde keine Kamera gefunden. Ein Handscanner kann in das Feld unten schreiben.',
  cameraBusy: 'Ein anderes Programm benutzt die Kamera. Schließen Sie es und starten Sie die Kamera erneut.',
  cameraFailed: 'Die Kamera ist nicht gestartet. Versuchen Sie es erneut oder starten Sie das Telefon neu.',
  cameraNoCodes:
    'Dieser Browser kann keine Codes lesen. Benutzen Sie einen neueren Browser oder ein anderes Telefon.',

  typedId: 'Nutzer-ID oder Eintrittskarte',
  typedTicket: 'Eintrittskarte, vom Handscanner',
  check: 'Prüfen',
  gate: 'Einlass',
  gateHint: 'Name dieses Einlasses, zum Beispiel Nord. Er wird mit jedem Scan gespeichert.',
  recent: 'Letzte Scans',
  waits: 'noch nicht gesendet',
  undo: 'Rückgängig',
  undoWhat: 'Rückgängig: {who}',
  correction: 'Korrektur für {who}: {headline}. {message}',

  checking: 'Wird geprüft …',
  notSent: 'Von diesem Telefon beurteilt. Der Scan wird gesendet, sobald eine Verbindung da ist.',
  admittedTitle: 'Eingelassen',
  admittedText: 'Der Gast darf eintreten.',
  alreadyTitle: 'Schon eingelassen',
  alreadyUnknown: 'Mit dieser Eintrittskarte ist schon jemand eingetreten.',
  alreadyWhen: 'Erster Eintritt: {when}.',
  alreadyAt: 'Erster Eintritt: {when}, Einlass {gate}.',
  exitedTitle: 'Ausgang notiert',
  exitedText: 'Der Gast ist gegangen und darf wieder eintreten.',
  notInsideTitle: 'War nicht drinnen',
  notInsideText: 'Vor diesem Ausgang wurde kein Eintritt notiert.',
  undoneTitle: 'Zurückgenommen',
  undoneText: 'Dieser Scan zählt nicht.',
  notUndoneTitle: 'Nicht zurückgenommen',
  notUndoneText:
    'Der Dienst hat das Zurücknehmen nicht angenommen, der Scan zählt also weiter. Sagen Sie es dem Veranstalter.',
  ticketRequiredTitle: 'Eintrittskarte nötig',
  ticketRequiredText:
    'Diese Veranstaltung lässt niemanden mit einer Nutzer-ID ein. Bitten Sie um die Eintrittskarte.',
  notEligibleTitle: 'Nicht mehr berechtigt',
  notEligibleText: 'Das Wallet des Gasts hat nicht mehr, was diese Veranstaltung verlangt.',
  unverifiedTitle: 'Konnte nicht geprüft werden',
  unverifiedText:
    'Nur der Dienst kann das prüfen, und er hat nicht geantwortet. Niemand wurde eingelassen. Versuchen Sie es mit einer Verbindung erneut, oder benutzen Sie ein neueres Telefon.',
  clockWrongTitle: 'Die Uhr dieses Telefons ist falsch',
  clockWrongText:
    'Niemand wurde eingelassen, denn eine abgelaufene Eintrittskarte würde gültig erscheinen. Stellen Sie Datum und Uhrzeit des Telefons, oder versuchen Sie es mit einer Verbindung erneut.',
  rejectedTitle: 'Nicht gespeichert',
  rejectedText:
    'Der Dienst hat diesen Scan nicht angenommen. Scannen Sie die Eintrittskarte erneut. Wenn das wieder geschieht, prüfen Sie die Uhr dieses Telefons.',
  unknownTitle: 'Nicht gültig',
  reasonNotTicket: 'Das ist keine Eintrittskarte.',
  reasonOtherEvent: 'Diese Eintrittskarte gilt für eine andere Veranstaltung.',
  reasonForged: 'Diese Eintrittskarte wurde verändert, oder jemand anders hat sie gemacht.',
  reasonUnknownSigner:
    'Dieses Telefon weiß nicht, wer diese Eintrittskarte gemacht hat. Mit einer Verbindung erfährt es von neuen Schlüsseln.',
  reasonExpired: 'Diese Eintrittskarte ist abgelaufen.',
  reasonRevoked: 'Diese Eintrittskarte wurde widerrufen: der Gast wurde von der Veranstaltung entfernt.',
  reasonService: 'Der Dienst kennt diesen Gast nicht.',

  online: 'Verbunden.',
  offline: 'Keine Verbindung. Das Scannen geht weiter.',
  nothingSent: 'Nichts wird gesendet.',
  allSent: 'Alles wurde gesendet.',
  oneWaits: '1 Scan wartet auf das Senden.',
  manyWait: '{count} Scans warten auf das Senden.',
  oneRefused: '1 Scan wurde nicht angenommen: speichern Sie ihn für den Veranstalter.',
  manyRefused: '{count} Scans wurden nicht angenommen: speichern Sie sie für den Veranstalter.',
  incompleteTitle: 'Dieser Link ist nicht vollständig',
  incompleteText:
    'Öffnen Sie den ganzen Link des Veranstalters, mit allem nach dem Zeichen #, oder scannen Sie seinen Code mit der Kamera des Telefons.',
  noStoreTitle: 'Dieser Browser bewahrt nichts auf',
  noStoreText:
    'Scans gingen verloren. Öffnen Sie den Link in einem Fenster, das nicht privat ist, oder in einem anderen Browser.',
  firstTimeTitle: 'Einmal ist eine Verbindung nötig',
  firstTimeText:
    'Dieses Telefon kennt die Veranstaltung noch nicht. Danach funktioniert die Seite auch ohne Verbindung.',
  refusedTitle: 'Dieser Link wurde zurückgezogen',
  refusedText:
    'Es wird nichts mehr gesendet. Bitten Sie den Veranstalter um einen neuen Link und öffnen Sie ihn auf diesem Telefon: dann wird gesendet, was wartet. Sie können es auch als Datei speichern.',
  goneTitle: 'Diese Veranstaltung gibt es nicht',
  goneText:
    'Sie wurde gelöscht, oder der Link ist für eine andere Veranstaltung. Fragen Sie den Veranstalter. Was wartet, kann als Datei gespeichert werden.',
  exportTitle: 'Scans speichern',
  exportText:
    'Scans, die nicht gesendet oder nicht angenommen wurden, bleiben auf diesem Telefon. Eine Datei davon ist für den Veranstalter. Sie enthält Eintrittskarten, geben Sie sie also niemandem sonst.',
  exportCsv: 'Tabelle speichern',
  exportJson: 'Datei für Programme speichern',
};
