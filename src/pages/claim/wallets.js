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
  // Without a name: the wallet of this browser.
  const addOldWay = () => {
    if (found.size === 0) add(oldWay, { provider: window.ethereum });
  };
  addOldWay();
  addEventListener('ethereum#initialized', addOldWay, { once: true });
}

const oldWay = 'window.ethereum';

/** Asks the wallet for the account that its owner chooses. @returns `{ given }`, or `{ fault }`: the name of a text */
export async function askForAddress({ provider }) {
  try {
    const accounts = await provider.request({ method: 'eth_requestAccounts' });
    const given = Array.isArray(accounts) ? accounts[0] : undefined;
    return typeof given === 'string' ? { given } : { fault: 'walletSilent' };
  } catch (error) {
    return { fault: refusals[error?.code] ?? 'walletSilent' };
  }
}

// Of EIP-1193, and of its JSON-RPC.
const refusals = { 4001: 'walletDeclined', 4100: 'walletLocked', '-32002': 'walletBusy' };

/**
 * Asks the wallet to show the NFT (EIP-747), on the network of the NFT.
 * @returns `added`, `declined`, or `failed` where the wallet cannot
 */
export async function addToWallet({ provider }, { chainId, contractAddress, tokenId }) {
  const wanted = `0x${chainId.toString(16)}`;
  try {
    if (Number(await provider.request({ method: 'eth_chainId' })) !== chainId) {
      await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] });
    }
    const options = { address: contractAddress, tokenId };
    const isAdded = await provider.request({
      method: 'wallet_watchAsset',
      params: { type: 'ERC721', options },
    });
    return isAdded === false ? 'declined' : 'added';
  } catch (error) {
    return error?.code === 4001 ? 'declined' : 'failed';
  }
}
