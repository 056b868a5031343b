export const texts = {
  heading: 'Resgatar seu NFT',
  title: '{name} · resgatar',
  loading: 'Verificando seu código…',
  picture: 'Imagem de {name}',
  serial: 'N.º {serial}',
  from: 'De {company}',
  giver: 'quem lhe deu o código',
  more: 'Mostrar mais',
  less: 'Mostrar menos',
  servedBy: 'Esta página é oferecida por {operator}.',
  help: 'Ajuda',

  openTitle: 'Pronto para resgatar',
  openText: 'Escolha a carteira que receberá o NFT na rede {network}.',
  queuedTitle: 'Seu pedido foi aceito',
  queuedText:
    'Ele aguarda a vez. Você pode fechar esta página e abrir o link de novo mais tarde para ver o andamento.',
  sentTitle: 'A caminho',
  sentText: 'O NFT foi enviado à rede {network} e aguarda confirmação. Você pode fechar esta página.',
  yoursTitle: 'É seu',
  yoursText: 'O NFT está na sua carteira, na rede {network}. Você pode fechar esta página.',
  takenTitle: 'Já foi resgatado',
  takenText:
    'Resgatado para {wallet}. É a sua carteira? Então está tudo certo: o certificado digital (NFT) de “{name}” está nela. Se ela não for sua, fale com {who}.',
  takenSoonText:
    'Resgatado para {wallet}. É a sua carteira? Então está tudo certo: o certificado digital (NFT) de “{name}” está a caminho dela. Se ela não for sua, fale com {who}.',
  failedTitle: 'Não deu certo',
  failedText:
    'Nada se perdeu: você pode resgatar de novo. Se falhar outra vez, use outra carteira ou fale com {who}.',
  failedClosedText: 'No momento não é possível resgatar de novo. Fale com {who}.',
  closedTitle: 'Indisponível no momento',
  closedText: 'No momento este NFT não pode ser resgatado. Volte mais tarde ou fale com {who}.',
  notOpenTitle: 'Ainda não disponível',
  notOpenText: 'Seu código está certo e continua válido. Volte mais tarde ou fale com {who}.',
  slow: 'Está demorando mais que o normal. Nada se perdeu: o processo continua automaticamente.',
  serviceSays: 'Mensagem do serviço (em inglês)',
  incompleteTitle: 'Este link está incompleto',
  incompleteText: 'Leia o código de novo ou abra o link inteiro, com tudo o que vem depois do sinal #.',
  unknownTitle: 'Este link não funciona',
  unknownText:
    'Leia o código de novo ou abra o link inteiro. Se continuar sem funcionar, fale com quem lhe deu o código.',
  lockedTitle: 'Muitos links errados',
  lockedText: 'Links errados foram abertos daqui várias vezes. Tente de novo {when}.',
  aboutTitle: 'Você tem um código impresso?',
  aboutText:
    'Leia-o com a câmera do telefone ou abra o link inteiro. Esta página mostrará o que corresponde ao seu código e enviará o certificado digital (NFT) para a sua carteira.',

  steps: 'Andamento',
  stepQueued: 'Aceito',
  stepSubmitted: 'Enviado à rede',
  stepMinted: 'Confirmado',

  wallets: 'Carteiras deste navegador',
  useWallet: 'Usar {wallet}',
  useThisWallet: 'Usar a carteira deste navegador',
  addressLabel: 'Endereço da sua carteira',
  addressHint:
    'Copie-o da sua carteira; ele começa com 0x. O endereço de depósito de uma corretora não é uma carteira: o que é enviado para lá se perde.',
  next: 'Continuar',
  checking: 'Verificando…',
  noWallet: 'Ainda não tem carteira?',
  noWalletText: 'Qualquer carteira Ethereum serve. Volte com o mesmo código; ele continua sendo seu.',
  walletHelp: 'Como obter uma carteira',

  confirmTitle: 'Esta é a sua carteira?',
  confirmText:
    '“{name}”, n.º {serial}, será enviado para este endereço na rede {network}. Isto não pode ser desfeito.',
  confirmProgram:
    'Há um programa neste endereço. Isso é normal se for a sua própria carteira inteligente (smart wallet). Em caso de dúvida, escolha “Alterar”: o que é enviado ao endereço de um token ou de um marketplace se perde.',
  yes: 'Sim, enviar para lá',
  change: 'Alterar',
  claiming: 'Enviando…',

  factTransaction: 'Transação',
  explorer: 'Ver no explorador de blocos',
  factWallet: 'Carteira',
  factNetwork: 'Rede',
  factTime: 'Resgatado',
  factContract: 'Contrato',
  factToken: 'Número do token',
  copy: 'Copiar',
  copyWhat: 'Copiar: {what}',
  copied: 'Copiado',
  addToWallet: 'Mostrar em {wallet}',
  addToThisWallet: 'Mostrar na carteira deste navegador',
  addedToWallet: 'Sua carteira já o mostra.',
  notAddedToWallet:
    'Sua carteira não conseguiu adicioná-lo. Você pode adicioná-lo manualmente, com o contrato e o número acima.',

  noAnswer: 'O serviço não responde. A página tentará de novo {when}.',
  lookAgain: 'Verificar de novo',
  faster: 'Enquanto isso, o NFT foi resgatado para a carteira indicada abaixo.',
  closedNow: 'No momento este NFT não pode ser resgatado. Fale com {who}.',
  quota: 'Por enquanto não é possível resgatar mais nada. Seu código continua válido: tente de novo {when}.',
  tooMany: 'Foram feitas solicitações demais a partir daqui. Tente de novo {when}.',
  unreachable: 'Não foi possível contatar o serviço. Verifique sua conexão e tente de novo.',
  broken: 'O serviço não pode responder agora. Aguarde um momento e tente de novo.',

  walletSilent: 'A carteira não informou nenhum endereço. Digite ou cole o endereço.',
  walletDeclined: 'Você recusou na carteira. Tente de novo ou digite o endereço.',
  walletLocked: 'A carteira está bloqueada ou não conhece esta página. Desbloqueie-a e tente de novo.',
  walletBusy: 'A carteira já está perguntando a você: abra-a e responda por lá.',

  addressEmpty: 'Digite ou cole o endereço da sua carteira.',
  addressHash:
    'Isto não é um endereço. Parece o número de uma transação ou uma chave privada. Nunca informe uma chave privada a ninguém. Nada foi enviado.',
  addressPhrase:
    'Isto parece a frase de recuperação de uma carteira. Nunca a informe a ninguém. Nada foi enviado.',
  addressOtherChain:
    'Este endereço é para {chain}, mas o NFT está na rede {network}. Copie seu endereço para {network}.',
  otherNetwork: 'a rede número {chainId}',
  addressReserved:
    'Este endereço não é de ninguém. O que é enviado para lá se perde. Copie o endereço da sua carteira.',
  addressContract:
    'Este é o endereço da própria coleção de NFTs, não o de uma carteira. Copie o endereço da sua carteira.',
  addressUnusable:
    'Este endereço não é de uma carteira. O que é enviado para lá se perde. Copie o endereço da sua carteira.',
  addressChecksum:
    'Há um erro neste endereço: as letras maiúsculas e minúsculas não combinam. Copie-o de novo da sua carteira.',
  addressPayment: 'Isto é um pedido de pagamento. Use apenas o endereço da sua carteira.',
  addressLink: 'Isto é um link. Cole apenas o endereço: ele começa com 0x.',
  addressSurrounded: 'Há aqui algo além do endereço. Cole apenas o endereço: 0x e o que vem depois.',
  addressSeveral: 'Há aqui mais de um endereço. Escolha um deles.',
  addressMail: 'Isto é um endereço de e-mail. O de uma carteira começa com 0x.',
  addressName:
    'Nomes, como os que terminam em .eth, não são consultados. Cole o próprio endereço: ele começa com 0x.',
  addressOtherCoin:
    'Isto parece um endereço de outra blockchain, como Bitcoin ou Solana. Para este NFT é preciso um endereço que comece com 0x.',
  addressOld: 'Esta é uma forma antiga de escrever um endereço. Copie o que começa com 0x.',
  addressCharacter:
    'Ele contém um caractere que nenhum endereço tem: {character}. Depois de 0x há apenas algarismos de 0 a 9 e letras de A a F.',
  addressShort:
    'Este endereço é curto demais: depois de 0x há {count} caracteres em vez de 40. Copie-o inteiro.',
  addressLong:
    'Isto é longo demais: depois de 0x há {count} caracteres em vez de 40. Copie apenas o endereço.',
  addressNone: 'Isto não é o endereço de uma carteira. Ele começa com 0x, seguido de 40 caracteres.',
};
