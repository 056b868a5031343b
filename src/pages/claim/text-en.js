export const texts = {
  heading: 'Claim your NFT',
  title: '{name} · claim',
  loading: 'Looking at your code …',
  picture: 'Picture of {name}',
  serial: 'No. {serial}',
  from: 'From {company}',
  giver: 'whoever gave you the code',
  more: 'Show more',
  less: 'Show less',
  servedBy: 'This page is served by {operator}.',
  help: 'Help',

  openTitle: 'Yours to claim',
  openText: 'Choose the wallet that should receive the NFT on {network}.',
  queuedTitle: 'Your claim is accepted',
  queuedText:
    'It is waiting for its turn. You may close this page and open the link again later to see how far it is.',
  sentTitle: 'On its way',
  sentText: 'The NFT was sent to {network} and waits to be confirmed. You may close this page.',
  yoursTitle: 'It is yours',
  yoursText: 'The NFT is in your wallet, on {network}. You may close this page.',
  takenTitle: 'Already claimed',
  takenText:
    'Claimed for {wallet}. Is that your wallet? Then all is well: the digital certificate (NFT) of “{name}” is there. If that is not yours, ask {who}.',
  takenSoonText:
    'Claimed for {wallet}. Is that your wallet? Then all is well: the digital certificate (NFT) of “{name}” is on its way there. If that is not yours, ask {who}.',
  failedTitle: 'That did not work',
  failedText: 'Nothing is lost: you may claim it again. If it fails again, use another wallet, or ask {who}.',
  failedClosedText: 'It cannot be claimed again at present. Ask {who}.',
  closedTitle: 'Not open for claims',
  closedText: 'It cannot be claimed at present. Look again later, or ask {who}.',
  notOpenTitle: 'Not open for claims yet',
  notOpenText: 'Your code is right, and it stays valid. Look again later, or ask {who}.',
  slow: 'It is taking longer than usual. Nothing is lost: it continues by itself.',
  serviceSays: 'What the service reports',
  incompleteTitle: 'This link is not complete',
  incompleteText: 'Scan the code again, or open the whole link, with everything after the # sign.',
  unknownTitle: 'This link does not work',
  unknownText:
    'Scan the code again, or open the whole link. If it still fails, ask whoever gave you the code.',
  lockedTitle: 'Too many wrong links',
  lockedText: 'Wrong links were opened from here several times. Try again {when}.',
  aboutTitle: 'Do you have a printed code?',
  aboutText:
    'Scan it with the camera of your phone, or open the whole link. This page then shows what belongs to your code, and sends its digital certificate (NFT) to your wallet.',

  steps: 'How far it is',
  stepQueued: 'Accepted',
  stepSubmitted: 'Sent to the network',
  stepMinted: 'Confirmed',

  wallets: 'Wallets in this browser',
  useWallet: 'Use {wallet}',
  useThisWallet: 'Use the wallet in this browser',
  addressLabel: 'Address of your wallet',
  addressHint:
    'Copy it from your wallet; it begins with 0x. The deposit address of an exchange is not a wallet: what is sent there is lost.',
  next: 'Continue',
  checking: 'Checking …',
  noWallet: 'No wallet yet?',
  noWalletText: 'Any Ethereum wallet works. Come back with the same code; it stays yours.',
  walletHelp: 'How to get a wallet',

  confirmTitle: 'Is this your wallet?',
  confirmText: '“{name}”, no. {serial}, goes to this address on {network}. This cannot be undone.',
  confirmProgram:
    'A program is at this address. That is fine if it is your own smart wallet. If you are not sure, choose Change: what is sent to the address of a token or a marketplace is lost.',
  yes: 'Yes, send it there',
  change: 'Change',
  claiming: 'Sending …',

  factTransaction: 'Transaction',
  explorer: 'See it in the block explorer',
  factWallet: 'Wallet',
  factNetwork: 'Network',
  factTime: 'Claimed',
  factContract: 'Contract',
  factToken: 'Token number',
  copy: 'Copy',
  copyWhat: 'Copy: {what}',
  copied: 'Copied',
  addToWallet: 'Show it in {wallet}',
  addToThisWallet: 'Show it in the wallet of this browser',
  addedToWallet: 'Your wallet shows it now.',
  notAddedToWallet:
    'Your wallet could not add it. You can add it there by hand, with the contract and the number above.',

  noAnswer: 'No answer from the service. The page tries again {when}.',
  lookAgain: 'Look again',
  faster: 'It has been claimed in the meantime, for the wallet below.',
  closedNow: 'It cannot be claimed at present. Ask {who}.',
  quota: 'No more can be claimed for now. Your code stays valid: try again {when}.',
  tooMany: 'There were too many requests from here. Try again {when}.',
  unreachable: 'The service could not be reached. Check your connection, then try again.',
  broken: 'The service cannot answer now. Wait a moment, then try again.',

  walletSilent: 'The wallet gave no address. Type or paste it instead.',
  walletDeclined: 'You declined the request in the wallet. Try again, or type the address.',
  walletLocked: 'The wallet is locked, or does not know this page. Unlock it, then try again.',
  walletBusy: 'The wallet is already asking you: open it and answer there.',

  addressEmpty: 'Type or paste the address of your wallet.',
  addressHash:
    'This is not an address. It looks like the number of a transaction, or like a private key. Never give a private key to anybody. It was not sent anywhere.',
  addressPhrase:
    'This looks like the recovery phrase of a wallet. Never give it to anybody. It was not sent anywhere.',
  addressOtherChain:
    'This address is meant for {chain}, but the NFT is on {network}. Copy your address for {network}.',
  otherNetwork: 'network number {chainId}',
  addressReserved: 'Nobody owns this address. What is sent there is lost. Copy the address from your wallet.',
  addressContract:
    'This is the address of the NFT collection itself, not of a wallet. Copy the address from your wallet.',
  addressUnusable:
    'This address does not belong to a wallet. What is sent there is lost. Copy the address from your wallet.',
  addressChecksum:
    'There is a mistake in this address: its upper-case and lower-case letters do not fit together. Copy it from your wallet again.',
  addressPayment: 'This is a request for a payment. Use only the address of your wallet.',
  addressLink: 'This is a link. Paste only the address: it begins with 0x.',
  addressSurrounded: 'There is more here than an address. Paste only the address: 0x and what follows it.',
  addressSeveral: 'There is more than one address here. Choose one.',
  addressMail: 'This is an e-mail address. The address of a wallet begins with 0x.',
  addressName:
    'Names, such as those that end in .eth, are not looked up. Paste the address itself: it begins with 0x.',
  addressOtherCoin:
    'This looks like an address for another blockchain, such as Bitcoin or Solana. The NFT needs an address that begins with 0x.',
  addressOld: 'This is an old way to write an address. Copy the one that begins with 0x.',
  addressCharacter:
    'There is a character in it that no address has: {character}. After 0x come only the digits 0 to 9 and the letters A to F.',
  addressShort:
    'This address is too short: after 0x it has {count} characters instead of 40. Copy all of it.',
  addressLong: 'This is too long: after 0x it has {count} characters instead of 40. Copy only the address.',
  addressNone: 'This is not the address of a wallet. It begins with 0x, and 40 characters follow.',
};
