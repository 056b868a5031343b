export const texts = {
  heading: 'À l’entrée',
  title: '{name} · entrée',
  loading: 'Lecture de l’événement…',
  servedBy: 'Cette page est fournie par {operator}.',
  help: 'Aide',
  lookAgain: 'Vérifier à nouveau',

  kinds: 'Sens',
  entry: 'Entrée',
  exit: 'Sortie',
  picture: 'Ce que voit la caméra',
  startCamera: 'Démarrer la caméra',
  cameraInsecure:
    'Les navigateurs ne donnent la caméra qu’aux pages en https. Ouvrez le lien tel que vous l’avez reçu.',
  cameraDenied:
    'Cette page n’a pas le droit d’utiliser la caméra. Autorisez-la dans les réglages du navigateur, puis redémarrez la caméra.',
  cameraMissing: 'Aucune caméra trouvée. Un lecteur de codes peut écrire dans le champ ci-dessous.',
  cameraBusy: 'Un autre programme utilise la caméra. Fermez-le, puis redémarrez la caméra.',
  cameraFailed: 'La caméra n’a pas démarré. Réessayez, ou redémarrez le téléphone.',
  cameraNoCodes:
    'Ce navigateur ne sait pas lire les codes. Utilisez un navigateur plus récent ou un autre téléphone.',

  typedId: 'Identifiant ou billet',
  typedTicket: 'Billet, depuis un lecteur de codes',
  check: 'Vérifier',
  gate: 'Porte',
  gateHint: 'Nom de cette porte, par exemple Nord. Il est enregistré avec chaque scan.',
  recent: 'Derniers scans',
  waits: 'pas encore envoyé',
  undo: 'Annuler',
  undoWhat: 'Annuler : {who}',
  correction: 'Correction pour {who} : {headline}. {message}',

  checking: 'Vérification…',
  notSent: 'Jugé par ce téléphone. Le scan sera envoyé dès qu’il y aura une connexion.',
  admittedTitle: 'Entrée acceptée',
  admittedText: 'L’invité peut entrer.',
  alreadyTitle: 'Déjà entré',
  alreadyUnknown: 'Quelqu’un est déjà entré avec ce billet.',
  alreadyWhen: 'Première entrée : {when}.',
  alreadyAt: 'Première entrée : {when}, porte {gate}.',
  exitedTitle: 'Sortie notée',
  exitedText: 'L’invité est sorti et peut entrer à nouveau.',
  notInsideTitle: 'N’était pas à l’intérieur',
  notInsideText: 'Aucune entrée n’a été notée avant cette sortie.',
  undoneTitle: 'Annulé',
  undoneText: 'Ce scan ne compte pas.',
  notUndoneTitle: 'Non annulé',
  notUndoneText:
    'Le service n’a pas accepté l’annulation : le scan compte toujours. Dites-le à l’organisateur.',
  ticketRequiredTitle: 'Billet nécessaire',
  ticketRequiredText: 'Cet événement n’admet personne avec un identifiant. Demandez le billet.',
  notEligibleTitle: 'N’a plus droit à l’entrée',
  notEligibleText: 'Le portefeuille de l’invité n’a plus ce que cet événement demande.',
  unverifiedTitle: 'Vérification impossible',
  unverifiedText:
    'Seul le service peut le vérifier, et il n’a pas répondu. Personne n’a été admis. Réessayez avec une connexion, ou utilisez un téléphone plus récent.',
  clockWrongTitle: 'L’horloge de ce téléphone est fausse',
  clockWrongText:
    'Personne n’a été admis, car un billet expiré semblerait valable. Réglez la date et l’heure du téléphone, ou réessayez avec une connexion.',
  rejectedTitle: 'Non enregistré',
  rejectedText:
    'Le service n’a pas accepté ce scan. Scannez le billet à nouveau. Si cela se répète, vérifiez l’heure de ce téléphone.',
  unknownTitle: 'Non valable',
  reasonNotTicket: 'Ceci n’est pas un billet.',
  reasonOtherEvent: 'Ce billet est pour un autre événement.',
  reasonForged: 'Ce billet a été modifié, ou fait par quelqu’un d’autre.',
  reasonUnknownSigner:
    'Ce téléphone ne sait pas qui a fait ce billet. Avec une connexion, il apprend les nouvelles clés.',
  reasonExpired: 'Ce billet a expiré.',
  reasonRevoked: 'Ce billet a été annulé : l’invité a été retiré de l’événement.',
  reasonService: 'Le service ne connaît pas cet invité.',

  online: 'Connecté.',
  offline: 'Pas de connexion. Le scan continue.',
  nothingSent: 'Rien n’est envoyé.',
  allSent: 'Tout a été envoyé.',
  oneWaits: '1 scan attend d’être envoyé.',
  manyWait: '{count} scans attendent d’être envoyés.',
  oneRefused: '1 scan n’a pas été accepté : enregistrez-le pour l’organisateur.',
  manyRefused: '{count} scans n’ont pas été acceptés : enregistrez-les pour l’organisateur.',
  incompleteTitle: 'Ce lien n’est pas complet',
  incompleteText:
    'Ouvrez le lien complet de l’organisateur, avec tout ce qui suit le signe #, ou scannez son code avec la caméra du téléphone.',
  noStoreTitle: 'Ce navigateur ne garde rien',
  noStoreText:
    'Les scans seraient perdus. Ouvrez le lien dans une fenêtre qui n’est pas privée, ou dans un autre navigateur.',
  firstTimeTitle: 'Une connexion est nécessaire une fois',
  firstTimeText:
    'Ce téléphone ne connaît pas encore l’événement. Ensuite, la page fonctionne aussi sans connexion.',
  refusedTitle: 'Ce lien a été retiré',
  refusedText:
    'Plus rien n’est envoyé. Demandez un nouveau lien à l’organisateur et ouvrez-le sur ce téléphone : ce qui attend sera alors envoyé. Vous pouvez aussi l’enregistrer dans un fichier.',
  goneTitle: 'Cet événement n’existe pas',
  goneText:
    'Il a été supprimé, ou le lien est pour un autre événement. Demandez à l’organisateur. Ce qui attend peut être enregistré dans un fichier.',
  exportTitle: 'Enregistrer les scans',
  exportText:
    'Les scans qui n’ont pas été envoyés ou acceptés restent sur ce téléphone. Leur fichier est pour l’organisateur. Il contient des billets, ne le donnez à personne d’autre.',
  exportCsv: 'Enregistrer un tableau',
  exportJson: 'Enregistrer un fichier pour programmes',
};
