export const texts = {
  heading: 'Seu ingresso',
  title: '{name} · ingresso',
  loading: 'Lendo seu ingresso…',
  servedBy: 'Esta página é oferecida por {operator}.',
  help: 'Ajuda',
  code: 'O código do seu ingresso',
  unnamed: 'Seu evento',
  showCode: 'Mostre este código na entrada. Quem o tiver pode entrar: não o dê a ninguém.',
  expired: 'Este ingresso venceu e não libera mais ninguém.',
  guest: 'Convidado',
  start: 'Início',
  end: 'Fim',
  place: 'Local',
  offline: 'Esta página também abre sem conexão, pelo mesmo link.',
  incompleteTitle: 'Este link não está completo',
  incompleteText:
    'Abra o link completo do seu ingresso, com tudo depois do sinal #. Se não funcionar, pergunte a quem lhe deu o link.',
};
