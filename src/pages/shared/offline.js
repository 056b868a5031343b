/* Lets a page open without a network. */

/**
 * Registers the worker of a page. A new release takes over while the page is open: then `onReplaced` is called.
 * @param name of the page, which is the last part of its address
 * @returns whether the page opens without a network from now on
 */
export async function keepForOffline(name, onReplaced = () => {}) {
  const { serviceWorker } = navigator;
  // Pages without https, and private windows of some browsers, have none.
  if (serviceWorker === undefined) return false;
  const hadWorker = serviceWorker.controller !== null;
  serviceWorker.addEventListener('controllerchange', () => hadWorker && onReplaced());
  try {
    await serviceWorker.register(new URL(`${name}/worker.js`, document.baseURI).href, {
      scope: new URL(name, document.baseURI).pathname,
      updateViaCache: 'none',
    });
    await serviceWorker.ready;
    return true;
  } catch {
    return false;
  }
}
