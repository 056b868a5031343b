export const texts = {
  heading: 'Votre billet',
  title: '{name} · billet',
  loading: 'Lecture de votre billet…',
  servedBy: 'Cette page est fournie par {operator}.',
  help: 'Aide',
  code: 'Le code de votre billet',
  unnamed: 'Votre événement',
  showCode: 'Montrez ce code à l’entrée. Toute personne qui l’a peut entrer : ne le donnez à personne.',
  expired: 'Ce billet a expiré et n’admet plus personne.',
  guest: 'Invité',
  start: 'Début',
  end: 'Fin',
  place: 'Lieu',
  offline: 'Cette page s’ouvre aussi sans connexion, par le même lien.',
  incompleteTitle: 'Ce lien n’est pas complet',
  incompleteText:
    'Ouvrez le lien complet de votre billet, avec tout ce qui suit le signe #. Si cela ne suffit pas, demandez à la personne qui vous l’a donné.',
};
