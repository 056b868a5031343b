/* The camera of the phone, and the codes that it sees. */

// Enough for the some 70 modules of a ticket, and little enough for an old phone.
const wanted = { facingMode: { ideal: 'environment' }, width: { ideal: 1_280 }, height: { ideal: 720 } };
const pauseMs = 100;

/**
 * Shows the camera, and keeps the screen on meanwhile.
 * @returns `{ isOpen, close }`; or `{ fault }`, the name of a text
 */
export async function openCamera(video) {
  // Pages without https have no camera.
  if (navigator.mediaDevices === undefined) return { fault: 'cameraInsecure' };
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false });
    video.srcObject = stream;
    await video.play();
    const [track] = stream.getVideoTracks();
    const lock = await keepScreenOn();
    return {
      isOpen: () => track.readyState === 'live',
      close: () => {
        track.stop();
        video.srcObject = null;
        if (lock) void lock.release();
      },
    };
  } catch (error) {
    return { fault: faults[error.name] || 'cameraFailed' };
  }
}

const faults = {
  NotAllowedError: 'cameraDenied',
  SecurityError: 'cameraDenied',
  NotFoundError: 'cameraMissing',
  OverconstrainedError: 'cameraMissing',
  NotReadableError: 'cameraBusy',
  AbortError: 'cameraBusy',
};

async function keepScreenOn() {
  try {
    return await navigator.wakeLock.request('screen');
  } catch {
    // The browser knows no locks, or the battery is low.
    return undefined;
  }
}

/**
 * Reads codes until `mayGoOn` returns false.
 * @param detect as `createDetector` gives it
 * @param onCode called with each text that is seen
 */
export async function watchCodes(video, { detect, onCode, mayGoOn }) {
  while (mayGoOn()) {
    const code =
      document.visibilityState === 'visible' && video.readyState >= 2 ? await detect(video) : undefined;
    if (code !== undefined && mayGoOn()) onCode(code);
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}
