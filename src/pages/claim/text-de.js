export const texts = {
  heading: 'NFT einlösen',
  title: '{name} · einlösen',
  loading: 'Ihr Code wird geprüft …',
  picture: 'Bild von {name}',
  serial: 'Nr. {serial}',
  from: 'Von {company}',
  giver: 'die Person, von der Sie den Code haben',
  more: 'Mehr anzeigen',
  less: 'Weniger anzeigen',
  servedBy: 'Diese Seite wird bereitgestellt von {operator}.',
  help: 'Hilfe',

  openTitle: 'Bereit zum Einlösen',
  openText: 'Wählen Sie die Wallet, die das NFT im Netzwerk {network} erhalten soll.',
  queuedTitle: 'Ihr Auftrag ist angenommen',
  queuedText:
    'Er wartet, bis er an der Reihe ist. Sie können diese Seite schließen und den Link später wieder öffnen, um den Stand zu sehen.',
  sentTitle: 'Unterwegs',
  sentText:
    'Das NFT wurde an das Netzwerk {network} gesendet und wartet auf Bestätigung. Sie können diese Seite schließen.',
  yoursTitle: 'Es gehört Ihnen',
  yoursText: 'Das NFT ist in Ihrer Wallet im Netzwerk {network}. Sie können diese Seite schließen.',
  takenTitle: 'Bereits eingelöst',
  takenText:
    'Eingelöst für {wallet}. Ist das Ihre Wallet? Dann ist alles in Ordnung: Das digitale Zertifikat (NFT) zu „{name}“ ist dort. Wenn es nicht Ihre Wallet ist, fragen Sie {who}.',
  takenSoonText:
    'Eingelöst für {wallet}. Ist das Ihre Wallet? Dann ist alles in Ordnung: Das digitale Zertifikat (NFT) zu „{name}“ ist dorthin unterwegs. Wenn es nicht Ihre Wallet ist, fragen Sie {who}.',
  failedTitle: 'Das hat nicht geklappt',
  failedText:
    'Es ist nichts verloren: Sie können den Code noch einmal einlösen. Wenn es wieder nicht klappt, nehmen Sie eine andere Wallet oder fragen Sie {who}.',
  failedClosedText: 'Der Code kann derzeit nicht noch einmal eingelöst werden. Fragen Sie {who}.',
  closedTitle: 'Derzeit nicht einlösbar',
  closedText:
    'Dieser Code kann derzeit nicht eingelöst werden. Versuchen Sie es später wieder oder fragen Sie {who}.',
  notOpenTitle: 'Noch nicht einlösbar',
  notOpenText: 'Ihr Code stimmt und bleibt gültig. Versuchen Sie es später wieder oder fragen Sie {who}.',
  slow: 'Es dauert länger als sonst. Es ist nichts verloren: Es geht von selbst weiter.',
  serviceSays: 'Meldung des Dienstes (auf Englisch)',
  incompleteTitle: 'Dieser Link ist unvollständig',
  incompleteText:
    'Scannen Sie den Code noch einmal oder öffnen Sie den ganzen Link, mit allem nach dem Zeichen #.',
  unknownTitle: 'Dieser Link funktioniert nicht',
  unknownText:
    'Scannen Sie den Code noch einmal oder öffnen Sie den ganzen Link. Wenn es weiterhin nicht klappt, fragen Sie die Person, von der Sie den Code haben.',
  lockedTitle: 'Zu viele falsche Links',
  lockedText: 'Von hier wurden mehrmals falsche Links geöffnet. Versuchen Sie es {when} noch einmal.',
  aboutTitle: 'Haben Sie einen gedruckten Code?',
  aboutText:
    'Scannen Sie ihn mit der Kamera Ihres Telefons oder öffnen Sie den ganzen Link. Diese Seite zeigt dann, was zu Ihrem Code gehört, und sendet das digitale Zertifikat (NFT) an Ihre Wallet.',

  steps: 'Stand',
  stepQueued: 'Angenommen',
  stepSubmitted: 'An das Netzwerk gesendet',
  stepMinted: 'Bestätigt',

  wallets: 'Wallets in diesem Browser',
  useWallet: '{wallet} verwenden',
  useThisWallet: 'Wallet dieses Browsers verwenden',
  addressLabel: 'Adresse Ihrer Wallet',
  addressHint:
    'Kopieren Sie sie aus Ihrer Wallet; sie beginnt mit 0x. Die Einzahlungsadresse einer Börse ist keine Wallet: Was dorthin gesendet wird, ist verloren.',
  next: 'Weiter',
  checking: 'Wird geprüft …',
  noWallet: 'Noch keine Wallet?',
  noWalletText:
    'Jede Ethereum-Wallet ist geeignet. Kommen Sie später mit demselben Code wieder; er gehört weiterhin Ihnen.',
  walletHelp: 'So bekommen Sie eine Wallet',

  confirmTitle: 'Ist das Ihre Wallet?',
  confirmText:
    '„{name}“, Nr. {serial}, geht an diese Adresse im Netzwerk {network}. Das lässt sich nicht rückgängig machen.',
  confirmProgram:
    'An dieser Adresse ist ein Programm. Das ist in Ordnung, wenn es Ihre eigene Smart Wallet ist. Wenn Sie nicht sicher sind, wählen Sie „Ändern“: Was an die Adresse eines Tokens oder Marktplatzes gesendet wird, ist verloren.',
  yes: 'Ja, dorthin senden',
  change: 'Ändern',
  claiming: 'Wird gesendet …',

  factTransaction: 'Transaktion',
  explorer: 'Im Block-Explorer ansehen',
  factWallet: 'Wallet',
  factNetwork: 'Netzwerk',
  factTime: 'Eingelöst',
  factContract: 'Vertrag (Contract)',
  factToken: 'Token-Nummer',
  copy: 'Kopieren',
  copyWhat: 'Kopieren: {what}',
  copied: 'Kopiert',
  addToWallet: 'In {wallet} anzeigen',
  addToThisWallet: 'In der Wallet dieses Browsers anzeigen',
  addedToWallet: 'Ihre Wallet zeigt es jetzt an.',
  notAddedToWallet:
    'Ihre Wallet konnte es nicht hinzufügen. Sie können es dort von Hand hinzufügen, mit Vertrag und Nummer von oben.',

  noAnswer: 'Der Dienst antwortet nicht. Die Seite versucht es {when} noch einmal.',
  lookAgain: 'Noch einmal nachsehen',
  faster: 'Der Code wurde inzwischen für die unten genannte Wallet eingelöst.',
  closedNow: 'Der Code kann derzeit nicht eingelöst werden. Fragen Sie {who}.',
  quota:
    'Im Moment kann nichts mehr eingelöst werden. Ihr Code bleibt gültig: Versuchen Sie es {when} noch einmal.',
  tooMany: 'Von hier kamen zu viele Anfragen. Versuchen Sie es {when} noch einmal.',
  unreachable:
    'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  broken: 'Der Dienst kann gerade nicht antworten. Warten Sie einen Moment und versuchen Sie es noch einmal.',

  walletSilent: 'Die Wallet hat keine Adresse genannt. Geben Sie die Adresse selbst ein.',
  walletDeclined:
    'Sie haben die Anfrage in der Wallet abgelehnt. Versuchen Sie es noch einmal oder geben Sie die Adresse selbst ein.',
  walletLocked:
    'Die Wallet ist gesperrt oder kennt diese Seite nicht. Entsperren Sie die Wallet und versuchen Sie es noch einmal.',
  walletBusy: 'Die Wallet fragt Sie bereits: Öffnen Sie sie und antworten Sie dort.',

  addressEmpty: 'Geben Sie die Adresse Ihrer Wallet ein.',
  addressHash:
    'Das ist keine Adresse. Es sieht aus wie die Nummer einer Transaktion oder wie ein privater Schlüssel. Geben Sie einen privaten Schlüssel niemals weiter. Die Eingabe wurde nirgendwohin gesendet.',
  addressPhrase:
    'Das sieht aus wie die Wiederherstellungsphrase einer Wallet. Geben Sie sie niemals weiter. Die Eingabe wurde nirgendwohin gesendet.',
  addressOtherChain:
    'Diese Adresse ist für {chain} bestimmt, das NFT ist aber im Netzwerk {network}. Kopieren Sie Ihre Adresse für {network}.',
  otherNetwork: 'das Netzwerk Nummer {chainId}',
  addressReserved:
    'Diese Adresse gehört niemandem. Was dorthin gesendet wird, ist verloren. Kopieren Sie die Adresse aus Ihrer Wallet.',
  addressContract:
    'Das ist die Adresse der NFT-Sammlung selbst, nicht die einer Wallet. Kopieren Sie die Adresse aus Ihrer Wallet.',
  addressUnusable:
    'Diese Adresse gehört nicht zu einer Wallet. Was dorthin gesendet wird, ist verloren. Kopieren Sie die Adresse aus Ihrer Wallet.',
  addressChecksum:
    'In dieser Adresse ist ein Fehler: Groß- und Kleinbuchstaben passen nicht zusammen. Kopieren Sie sie noch einmal aus Ihrer Wallet.',
  addressPayment: 'Das ist eine Zahlungsaufforderung. Verwenden Sie nur die Adresse Ihrer Wallet.',
  addressLink: 'Das ist ein Link. Fügen Sie nur die Adresse ein: Sie beginnt mit 0x.',
  addressSurrounded:
    'Hier steht außer der Adresse noch etwas anderes. Fügen Sie nur die Adresse ein: 0x und was darauf folgt.',
  addressSeveral: 'Hier stehen mehrere Adressen. Wählen Sie eine davon.',
  addressMail: 'Das ist eine E-Mail-Adresse. Die Adresse einer Wallet beginnt mit 0x.',
  addressName:
    'Namen, zum Beispiel solche mit der Endung .eth, werden nicht nachgeschlagen. Fügen Sie die Adresse selbst ein: Sie beginnt mit 0x.',
  addressOtherCoin:
    'Das sieht aus wie eine Adresse einer anderen Blockchain, etwa Bitcoin oder Solana. Für das NFT brauchen Sie eine Adresse, die mit 0x beginnt.',
  addressOld: 'So wurden Adressen früher geschrieben. Kopieren Sie die Adresse, die mit 0x beginnt.',
  addressCharacter:
    'Darin steht ein Zeichen, das in keiner Adresse vorkommt: {character}. Nach 0x folgen nur die Ziffern 0 bis 9 und die Buchstaben A bis F.',
  addressShort:
    'Diese Adresse ist zu kurz: Nach 0x hat sie {count} Zeichen statt 40. Kopieren Sie die ganze Adresse.',
  addressLong: 'Das ist zu lang: Nach 0x stehen {count} Zeichen statt 40. Kopieren Sie nur die Adresse.',
  addressNone: 'Das ist nicht die Adresse einer Wallet. Sie beginnt mit 0x, darauf folgen 40 Zeichen.',
};
