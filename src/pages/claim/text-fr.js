export const texts = {
  heading: 'Récupérer votre NFT',
  title: '{name} · récupérer',
  loading: 'Vérification de votre code…',
  picture: 'Image : {name}',
  serial: 'N° {serial}',
  from: 'De la part de {company}',
  giver: 'la personne qui vous a remis le code',
  more: 'Afficher plus',
  less: 'Afficher moins',
  servedBy: 'Cette page est proposée par {operator}.',
  help: 'Aide',

  openTitle: 'À vous de le récupérer',
  openText: 'Choisissez le portefeuille qui recevra le NFT sur le réseau {network}.',
  queuedTitle: 'Votre demande est acceptée',
  queuedText:
    'Elle attend son tour. Vous pouvez fermer cette page et rouvrir le lien plus tard pour voir où elle en est.',
  sentTitle: 'En route',
  sentText:
    'Le NFT a été envoyé sur le réseau {network} et attend d’être confirmé. Vous pouvez fermer cette page.',
  yoursTitle: 'Il est à vous',
  yoursText: 'Le NFT est dans votre portefeuille, sur le réseau {network}. Vous pouvez fermer cette page.',
  takenTitle: 'Déjà récupéré',
  takenText:
    'Récupéré pour {wallet}. Est-ce votre portefeuille ? Alors tout va bien : le certificat numérique (NFT) de « {name} » s’y trouve. Si ce n’est pas le vôtre, adressez-vous à {who}.',
  takenSoonText:
    'Récupéré pour {wallet}. Est-ce votre portefeuille ? Alors tout va bien : le certificat numérique (NFT) de « {name} » est en route. Si ce n’est pas le vôtre, adressez-vous à {who}.',
  failedTitle: 'Cela n’a pas fonctionné',
  failedText:
    'Rien n’est perdu : vous pouvez recommencer. Si cela échoue encore, utilisez un autre portefeuille ou adressez-vous à {who}.',
  failedClosedText: 'Il n’est pas possible de recommencer pour le moment. Adressez-vous à {who}.',
  closedTitle: 'Pas disponible pour le moment',
  closedText: 'Ce NFT ne peut pas être récupéré pour le moment. Revenez plus tard ou adressez-vous à {who}.',
  notOpenTitle: 'Pas encore disponible',
  notOpenText: 'Votre code est correct et reste valable. Revenez plus tard ou adressez-vous à {who}.',
  slow: 'Cela prend plus de temps que d’habitude. Rien n’est perdu : la suite se fera automatiquement.',
  serviceSays: 'Message du service (en anglais)',
  incompleteTitle: 'Ce lien est incomplet',
  incompleteText: 'Scannez le code à nouveau ou ouvrez le lien entier, avec tout ce qui suit le signe #.',
  unknownTitle: 'Ce lien ne fonctionne pas',
  unknownText:
    'Scannez le code à nouveau ou ouvrez le lien entier. Si cela échoue encore, adressez-vous à la personne qui vous a remis le code.',
  lockedTitle: 'Trop de liens erronés',
  lockedText: 'Des liens erronés ont été ouverts plusieurs fois d’ici. Réessayez {when}.',
  aboutTitle: 'Vous avez un code imprimé ?',
  aboutText:
    'Scannez-le avec l’appareil photo de votre téléphone ou ouvrez le lien entier. Cette page montre alors ce qui correspond à votre code et envoie le certificat numérique (NFT) dans votre portefeuille.',

  steps: 'Avancement',
  stepQueued: 'Acceptée',
  stepSubmitted: 'Envoyée au réseau',
  stepMinted: 'Confirmée',

  wallets: 'Portefeuilles de ce navigateur',
  useWallet: 'Utiliser {wallet}',
  useThisWallet: 'Utiliser le portefeuille de ce navigateur',
  addressLabel: 'Adresse de votre portefeuille',
  addressHint:
    'Copiez-la depuis votre portefeuille ; elle commence par 0x. L’adresse de dépôt d’une plateforme d’échange n’est pas un portefeuille : ce qui y est envoyé est perdu.',
  next: 'Continuer',
  checking: 'Vérification…',
  noWallet: 'Pas encore de portefeuille ?',
  noWalletText: 'Tout portefeuille Ethereum convient. Revenez avec le même code ; il reste à vous.',
  walletHelp: 'Comment obtenir un portefeuille',

  confirmTitle: 'Est-ce votre portefeuille ?',
  confirmText:
    '« {name} », n° {serial}, sera envoyé à cette adresse sur le réseau {network}. C’est définitif : il ne sera pas possible de revenir en arrière.',
  confirmProgram:
    'Il y a un programme à cette adresse. C’est normal s’il s’agit de votre propre portefeuille intelligent (smart wallet). En cas de doute, choisissez « Modifier » : ce qui est envoyé à l’adresse d’un jeton ou d’une place de marché est perdu.',
  yes: 'Oui, envoyer à cette adresse',
  change: 'Modifier',
  claiming: 'Envoi…',

  factTransaction: 'Transaction',
  explorer: 'Voir dans l’explorateur de blocs',
  factWallet: 'Portefeuille',
  factNetwork: 'Réseau',
  factTime: 'Récupéré',
  factContract: 'Contrat',
  factToken: 'Numéro du jeton',
  copy: 'Copier',
  copyWhat: 'Copier : {what}',
  copied: 'Copié',
  addToWallet: 'Afficher dans {wallet}',
  addToThisWallet: 'Afficher dans le portefeuille de ce navigateur',
  addedToWallet: 'Votre portefeuille l’affiche maintenant.',
  notAddedToWallet:
    'Votre portefeuille n’a pas pu l’ajouter. Vous pouvez l’y ajouter vous-même, avec le contrat et le numéro ci-dessus.',

  noAnswer: 'Le service ne répond pas. La page réessaiera {when}.',
  lookAgain: 'Vérifier à nouveau',
  faster: 'Entre-temps, le NFT a été récupéré pour le portefeuille ci-dessous.',
  closedNow: 'Ce NFT ne peut pas être récupéré pour le moment. Adressez-vous à {who}.',
  quota: 'Aucun autre NFT ne peut être récupéré pour l’instant. Votre code reste valable : réessayez {when}.',
  tooMany: 'Trop de demandes ont été envoyées d’ici. Réessayez {when}.',
  unreachable: 'Le service est injoignable. Vérifiez votre connexion, puis réessayez.',
  broken: 'Le service ne peut pas répondre pour le moment. Patientez un instant, puis réessayez.',

  walletSilent: 'Le portefeuille n’a pas donné d’adresse. Saisissez-la vous-même.',
  walletDeclined: 'Vous avez refusé dans le portefeuille. Réessayez ou saisissez l’adresse vous-même.',
  walletLocked:
    'Le portefeuille est verrouillé ou ne connaît pas cette page. Déverrouillez-le, puis réessayez.',
  walletBusy: 'Le portefeuille attend déjà votre réponse : ouvrez-le et répondez-y.',

  addressEmpty: 'Saisissez l’adresse de votre portefeuille.',
  addressHash:
    'Ce n’est pas une adresse. Cela ressemble au numéro d’une transaction, ou à une clé privée. Ne communiquez jamais une clé privée à qui que ce soit. Rien n’a été envoyé.',
  addressPhrase:
    'Cela ressemble à la phrase de récupération d’un portefeuille. Ne la communiquez jamais à qui que ce soit. Rien n’a été envoyé.',
  addressOtherChain:
    'Cette adresse est prévue pour {chain}, mais le NFT est sur le réseau {network}. Copiez votre adresse pour {network}.',
  otherNetwork: 'le réseau numéro {chainId}',
  addressReserved:
    'Cette adresse n’appartient à personne. Ce qui y est envoyé est perdu. Copiez l’adresse depuis votre portefeuille.',
  addressContract:
    'C’est l’adresse de la collection de NFT elle-même, pas celle d’un portefeuille. Copiez l’adresse depuis votre portefeuille.',
  addressUnusable:
    'Cette adresse n’est pas celle d’un portefeuille. Ce qui y est envoyé est perdu. Copiez l’adresse depuis votre portefeuille.',
  addressChecksum:
    'Il y a une erreur dans cette adresse : ses majuscules et ses minuscules ne concordent pas. Copiez-la à nouveau depuis votre portefeuille.',
  addressPayment: 'C’est une demande de paiement. Utilisez seulement l’adresse de votre portefeuille.',
  addressLink: 'C’est un lien. Collez seulement l’adresse : elle commence par 0x.',
  addressSurrounded: 'Il y a ici autre chose que l’adresse. Collez seulement l’adresse : 0x et ce qui suit.',
  addressSeveral: 'Il y a ici plusieurs adresses. Choisissez-en une.',
  addressMail: 'C’est une adresse e-mail. L’adresse d’un portefeuille commence par 0x.',
  addressName:
    'Les noms, par exemple ceux qui se terminent par .eth, ne sont pas pris en charge. Collez l’adresse elle-même : elle commence par 0x.',
  addressOtherCoin:
    'Cela ressemble à une adresse d’une autre blockchain, comme Bitcoin ou Solana. Pour ce NFT, il faut une adresse qui commence par 0x.',
  addressOld: 'C’est une ancienne façon d’écrire une adresse. Copiez celle qui commence par 0x.',
  addressCharacter:
    'Elle contient un caractère qui n’existe dans aucune adresse : {character}. Après 0x, il n’y a que les chiffres de 0 à 9 et les lettres de A à F.',
  addressShort:
    'Cette adresse est trop courte : après 0x, elle compte {count} caractères au lieu de 40. Copiez-la en entier.',
  addressLong:
    'C’est trop long : après 0x, il y a {count} caractères au lieu de 40. Copiez seulement l’adresse.',
  addressNone: 'Ce n’est pas l’adresse d’un portefeuille. Elle commence par 0x, suivi de 40 caractères.',
};
