/*
 * Wallets in the browser: those that announce themselves (EIP-6963), and `window.ethereum` (EIP-1193) where none does.
 * Extensions wrote what they say, so it is shown as text, and icons as data only.
 */

const mostWallets = 20;

/** Calls `onFound` with all wallets known so far, `{ name, icon, provider }`, whenever one comes. */
export function watchWallets(onFound) {
  const found = new Map();
  const add = (id, wallet) => {
    if (typeof wallet.provider?.request !== 'function' || found.size >= mostWallets) return;
    found.set(id, wallet);
    onFound([...found.values()]);
  };
  addEventListener('eip6963:announceProvider', ({ detail }) => {
    const { uuid, name, icon } = detail?.info ?? {};
    if (typeof uuid !== 'string' || typeof name !== 'string' || name.trim() === '') return;
    const isData = typeof icon === 'string' && icon.startsWith('data:image/');
    found.delete(oldWay);
    add(uuid, { name: name.slice(0, 60), icon: isData ? icon : undefined, provider: detail.provider });
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
  const addOldWay = () => {
    if (found.size === 0) add(oldWay, { name: 'the wallet in this browser', provider: window.ethereum });
  };
  addOldWay();
  addEventListener('ethereum#initialized', addOldWay, { once: true });
}

const oldWay = 'window.ethereum';

/** Asks the wallet for the account that its owner chooses. @throws Error in words for the reader */
export async function askForAddress({ provider }) {
  let accounts;
  try {
    accounts = await provider.request({ method: 'eth_requestAccounts' });
  } catch (error) {
    throw new Error(refusals[error?.code] ?? 'The wallet gave no address. Type it in instead.');
  }
  const [address] = Array.isArray(accounts) ? accounts : [];
  if (!isAddress(address)) throw new Error('The wallet gave no address. Type it in instead.');
  return address;
}

// Of EIP-1193, and of its JSON-RPC.
const refusals = {
  4001: 'You declined in the wallet. Ask it again, or type the address in.',
  4100: 'The wallet is locked, or does not know this page. Unlock it, then try again.',
  '-32002': 'The wallet is asking you already: open it and answer there.',
};

export const isAddress = (text) => typeof text === 'string' && /^0x[0-9a-fA-F]{40}$/.test(text);
