export const texts = {
  heading: 'Canjear su NFT',
  title: '{name} · canjear',
  loading: 'Comprobando su código…',
  picture: 'Imagen de {name}',
  serial: 'N.º {serial}',
  from: 'De {company}',
  giver: 'quien le dio el código',
  more: 'Mostrar más',
  less: 'Mostrar menos',
  servedBy: 'Esta página la ofrece {operator}.',
  help: 'Ayuda',

  openTitle: 'Listo para canjear',
  openText: 'Elija la billetera que recibirá el NFT en la red {network}.',
  queuedTitle: 'Su solicitud se ha aceptado',
  queuedText:
    'Está esperando su turno. Puede cerrar esta página y volver a abrir el enlace más tarde para ver cómo va.',
  sentTitle: 'En camino',
  sentText: 'El NFT se ha enviado a la red {network} y espera confirmación. Puede cerrar esta página.',
  yoursTitle: 'Ya es suyo',
  yoursText: 'El NFT está en su billetera, en la red {network}. Puede cerrar esta página.',
  takenTitle: 'Ya se ha canjeado',
  takenText:
    'Canjeado para {wallet}. ¿Es su billetera? Entonces todo está bien: el certificado digital (NFT) de «{name}» está allí. Si no es la suya, pregunte a {who}.',
  takenSoonText:
    'Canjeado para {wallet}. ¿Es su billetera? Entonces todo está bien: el certificado digital (NFT) de «{name}» va en camino. Si no es la suya, pregunte a {who}.',
  failedTitle: 'No ha funcionado',
  failedText:
    'No se ha perdido nada: puede canjearlo otra vez. Si vuelve a fallar, use otra billetera o pregunte a {who}.',
  failedClosedText: 'Por ahora no se puede volver a canjear. Pregunte a {who}.',
  closedTitle: 'No disponible por ahora',
  closedText: 'Por ahora este NFT no se puede canjear. Vuelva más tarde o pregunte a {who}.',
  notOpenTitle: 'Todavía no está disponible',
  notOpenText: 'Su código es correcto y sigue siendo válido. Vuelva más tarde o pregunte a {who}.',
  slow: 'Está tardando más de lo normal. No se ha perdido nada: continuará por sí solo.',
  serviceSays: 'Mensaje del servicio (en inglés)',
  incompleteTitle: 'Este enlace está incompleto',
  incompleteText: 'Escanee el código otra vez o abra el enlace entero, con todo lo que sigue al signo #.',
  unknownTitle: 'Este enlace no funciona',
  unknownText:
    'Escanee el código otra vez o abra el enlace entero. Si sigue sin funcionar, pregunte a quien le dio el código.',
  lockedTitle: 'Demasiados enlaces erróneos',
  lockedText: 'Desde aquí se han abierto varias veces enlaces erróneos. Inténtelo de nuevo {when}.',
  aboutTitle: '¿Tiene un código impreso?',
  aboutText:
    'Escanéelo con la cámara de su teléfono o abra el enlace entero. Esta página le mostrará qué corresponde a su código y enviará el certificado digital (NFT) a su billetera.',

  steps: 'Progreso',
  stepQueued: 'Aceptado',
  stepSubmitted: 'Enviado a la red',
  stepMinted: 'Confirmado',

  wallets: 'Billeteras de este navegador',
  useWallet: 'Usar {wallet}',
  useThisWallet: 'Usar la billetera de este navegador',
  addressLabel: 'Dirección de su billetera',
  addressHint:
    'Cópiela de su billetera; empieza por 0x. La dirección de depósito de una plataforma de intercambio (exchange) no es una billetera: lo que se envía allí se pierde.',
  next: 'Continuar',
  checking: 'Comprobando…',
  noWallet: '¿Aún no tiene billetera?',
  noWalletText: 'Sirve cualquier billetera de Ethereum. Vuelva con el mismo código; seguirá siendo suyo.',
  walletHelp: 'Cómo conseguir una billetera',

  confirmTitle: '¿Es esta su billetera?',
  confirmText:
    '«{name}», n.º {serial}, se enviará a esta dirección en la red {network}. Esto no se puede deshacer.',
  confirmProgram:
    'En esta dirección hay un programa. Es normal si se trata de su propia billetera inteligente (smart wallet). Si tiene dudas, elija «Cambiar»: lo que se envía a la dirección de un token o de un mercado de NFT se pierde.',
  yes: 'Sí, enviarlo ahí',
  change: 'Cambiar',
  claiming: 'Enviando…',

  factTransaction: 'Transacción',
  explorer: 'Ver en el explorador de bloques',
  factWallet: 'Billetera',
  factNetwork: 'Red',
  factTime: 'Canjeado',
  factContract: 'Contrato',
  factToken: 'Número del token',
  copy: 'Copiar',
  copyWhat: 'Copiar: {what}',
  copied: 'Copiado',
  addToWallet: 'Mostrar en {wallet}',
  addToThisWallet: 'Mostrar en la billetera de este navegador',
  addedToWallet: 'Su billetera ya lo muestra.',
  notAddedToWallet:
    'Su billetera no ha podido añadirlo. Puede añadirlo manualmente, con el contrato y el número de arriba.',

  noAnswer: 'El servicio no responde. La página lo intentará de nuevo {when}.',
  lookAgain: 'Volver a comprobar',
  faster: 'Entretanto se ha canjeado para la billetera indicada abajo.',
  closedNow: 'Por ahora este NFT no se puede canjear. Pregunte a {who}.',
  quota: 'De momento no se pueden canjear más. Su código sigue siendo válido: inténtelo de nuevo {when}.',
  tooMany: 'Ha habido demasiadas solicitudes desde aquí. Inténtelo de nuevo {when}.',
  unreachable: 'No se ha podido contactar con el servicio. Compruebe su conexión e inténtelo de nuevo.',
  broken: 'El servicio no puede responder ahora. Espere un momento e inténtelo de nuevo.',

  walletSilent: 'La billetera no ha dado ninguna dirección. Escríbala usted.',
  walletDeclined: 'Ha rechazado la solicitud en la billetera. Inténtelo de nuevo o escriba la dirección.',
  walletLocked: 'La billetera está bloqueada o no conoce esta página. Desbloquéela e inténtelo de nuevo.',
  walletBusy: 'La billetera ya le está preguntando: ábrala y responda allí.',

  addressEmpty: 'Escriba o pegue la dirección de su billetera.',
  addressHash:
    'Esto no es una dirección. Parece el número de una transacción o una clave privada. No dé nunca una clave privada a nadie. No se ha enviado a ningún sitio.',
  addressPhrase:
    'Esto parece la frase de recuperación de una billetera. No se la dé nunca a nadie. No se ha enviado a ningún sitio.',
  addressOtherChain:
    'Esta dirección es para {chain}, pero el NFT está en la red {network}. Copie su dirección para {network}.',
  otherNetwork: 'la red número {chainId}',
  addressReserved:
    'Esta dirección no es de nadie. Lo que se envía allí se pierde. Copie la dirección de su billetera.',
  addressContract:
    'Esta es la dirección de la propia colección de NFT, no la de una billetera. Copie la dirección de su billetera.',
  addressUnusable:
    'Esta dirección no es de una billetera. Lo que se envía allí se pierde. Copie la dirección de su billetera.',
  addressChecksum:
    'Hay un error en esta dirección: sus mayúsculas y minúsculas no concuerdan. Cópiela otra vez de su billetera.',
  addressPayment: 'Esto es una solicitud de pago. Use solo la dirección de su billetera.',
  addressLink: 'Esto es un enlace. Pegue solo la dirección: empieza por 0x.',
  addressSurrounded: 'Aquí hay algo más que una dirección. Pegue solo la dirección: 0x y lo que sigue.',
  addressSeveral: 'Aquí hay más de una dirección. Elija una.',
  addressMail: 'Esto es una dirección de correo electrónico. La de una billetera empieza por 0x.',
  addressName:
    'Los nombres, como los que terminan en .eth, no se consultan. Pegue la propia dirección: empieza por 0x.',
  addressOtherCoin:
    'Esto parece una dirección de otra cadena de bloques, como Bitcoin o Solana. Para este NFT hace falta una dirección que empiece por 0x.',
  addressOld: 'Esta es una forma antigua de escribir una dirección. Copie la que empieza por 0x.',
  addressCharacter:
    'Contiene un carácter que no aparece en ninguna dirección: {character}. Después de 0x solo hay cifras del 0 al 9 y letras de la A a la F.',
  addressShort:
    'Esta dirección es demasiado corta: después de 0x tiene {count} caracteres en lugar de 40. Cópiela entera.',
  addressLong:
    'Esto es demasiado largo: después de 0x hay {count} caracteres en lugar de 40. Copie solo la dirección.',
  addressNone: 'Esto no es la dirección de una billetera. Empieza por 0x, seguido de 40 caracteres.',
};
