// Sends a call from the reference to the service that serves the page, and shows what it answers.
{
  const { make, prepare } = window.portal;
  const timeoutMs = 60_000;

  // What is kept lives as long as the tab; where storage is forbidden, as long as the page.
  const keyName = 'portal.key';
  const sureName = 'portal.sure';
  const kept = new Map();
  const storage = () => {
    try {
      return window.sessionStorage;
    } catch {
      return undefined;
    }
  };
  const read = (name) => storage()?.getItem(name) ?? kept.get(name) ?? '';
  const keep = (name, text) => {
    kept.set(name, text);
    if (text === '') storage()?.removeItem(name);
    else storage()?.setItem(name, text);
  };
  const readKey = () => read(keyName);
  const keepKey = (text) => {
    keep(keyName, text);
    for (const input of document.querySelectorAll('.call [data-key]')) input.value = text;
  };

  /** The fields of a form that are sent, with their values. */
  const sentFields = (form, place) =>
    [...form.querySelectorAll(`[data-in="${place}"]`)]
      .map((input) => [input.dataset.name, input.value])
      .filter(([, value]) => value !== '');

  /** The call that a form stands for. The key is apart, since it is never shown. */
  const readCall = (panel) => {
    const form = panel.querySelector('form');
    const path = sentFields(form, 'path').reduce(
      (filled, [name, value]) => filled.replace(`{${name}}`, encodeURIComponent(value)),
      panel.dataset.path,
    );
    const query = new URLSearchParams(sentFields(form, 'query')).toString();
    const body = form.querySelector('[data-body]')?.value;
    return {
      method: panel.dataset.method,
      // The portal lies one folder below the service, whatever its host is called here.
      url: new URL(`..${path}${query === '' ? '' : `?${query}`}`, document.baseURI).href,
      keyed: panel.dataset.keyed !== undefined,
      headers: [...sentFields(form, 'header'), ...(body ? [['Content-Type', 'application/json']] : [])],
      body: body || undefined,
    };
  };

  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

  const curlOf = ({ method, url, keyed, headers, body }) =>
    [
      `curl -i ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
      ...(keyed ? ['-H "x-api-key: $TALLYSTICK_KEY"'] : []),
      ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
    ].join(' \\\n  ');

  const send = async ({ method, url, keyed, headers, body }) => {
    const began = performance.now();
    const response = await fetch(url, {
      method,
      headers: [...headers, ...(keyed && readKey() !== '' ? [['x-api-key', readKey()]] : [])],
      body,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    return { response, text, ms: Math.round(performance.now() - began) };
  };

  /** Asks before anything is written, unless the reader wants it no more in this tab. Resolves to whether it shall be. */
  const confirmWriting = ({ method, url }) => {
    if (read(sureName) !== '') return Promise.resolve(true);
    const title = make('h2', { id: 'ask-title', textContent: 'Send a call that may change data?' });
    const what = make('p', {}, make('code', { textContent: `${method} ${url}` }));
    const yes = make('button', { type: 'button', className: 'send', textContent: 'Send it' });
    const no = make('button', { type: 'button', textContent: 'Cancel' });
    const note = make('p', {
      textContent: 'It goes to the live service, with your key where the call needs one.',
    });
    const sure = make('input', { type: 'checkbox' });
    const once = make('p', {}, make('label', {}, sure, ' Do not ask again in this tab'));
    const dialog = make('dialog', { className: 'ask' }, title, what, note, once, make('div', {}, no, yes));
    dialog.setAttribute('aria-labelledby', title.id);
    document.body.append(dialog);
    return new Promise((resolve) => {
      yes.addEventListener('click', () => {
        if (sure.checked) keep(sureName, 'yes');
        dialog.close('yes');
      });
      no.addEventListener('click', () => dialog.close());
      dialog.addEventListener('close', () => {
        dialog.remove();
        resolve(dialog.returnValue === 'yes');
      });
      dialog.showModal();
      no.focus();
    });
  };

  const outcomeOf = (panel) => panel.querySelector('.outcome');

  /** What a screen reader says at once; the answer below is there to be read. */
  const say = (panel, text) => {
    panel.querySelector('[role="status"]').textContent = text;
  };

  const sendAndShow = async (panel, submit) => {
    const call = readCall(panel);
    if (call.method !== 'GET' && !(await confirmWriting(call))) return;
    submit.disabled = true;
    say(panel, 'Sending …');
    try {
      const answer = await send(call);
      const { status, statusText } = answer.response;
      outcomeOf(panel).replaceChildren(...window.portal.viewAnswer(answer));
      say(panel, `Answered ${status} ${statusText} in ${answer.ms} ms.`);
      window.portal.learn(call, answer);
      if (answer.response.ok) renewIdempotencyKey(panel);
    } catch (error) {
      outcomeOf(panel).replaceChildren();
      const why = error.name === 'TimeoutError' ? `none within ${timeoutMs / 1_000} s` : error.message;
      say(panel, `No answer: ${why}. Is the service still running?`);
    } finally {
      submit.disabled = false;
      submit.focus();
    }
  };

  // A call that was answered is done; what is sent next is another one, unless the reader chose its key.
  const renewIdempotencyKey = (panel) => {
    const input = panel.querySelector('[data-name="Idempotency-Key"]');
    if (!input || (input.value !== '' && input.value !== input.dataset.made)) return;
    input.value = crypto.randomUUID?.() ?? '';
    input.dataset.made = input.value;
  };

  const fillIn = (panel) => {
    for (const input of panel.querySelectorAll('[data-key]')) input.value = readKey();
    renewIdempotencyKey(panel);
    window.portal.suggest(panel);
  };

  /** Offers the key of the sample company, which only a service with the sample data has. */
  const offerSampleKey = (input) => {
    const { sampleKey } = input.dataset;
    if (sampleKey === '') return;
    const offer = make('button', {
      type: 'button',
      className: 'sample-key',
      textContent: 'Use the key of the sample',
    });
    offer.addEventListener('click', () => keepKey(sampleKey));
    input.after(offer);
  };

  /** Gives a panel its form. */
  window.portal.makeTryable = (panel) => {
    const [open, form, submit] = ['.try', 'form', '.send'].map((name) => panel.querySelector(name));
    const code = make('code');
    const caption = make('figcaption', {}, 'The same call with curl');
    const curl = make('figure', { className: 'code' }, caption, make('pre', { tabIndex: 0 }, code));
    const holder = make('div', { className: 'curl' }, curl);
    const showCurl = () => {
      code.textContent = curlOf(readCall(panel));
    };
    form.append(holder);
    submit.after(make('p', { role: 'status', className: 'said' }));
    prepare(holder);
    form.querySelectorAll('[data-key]').forEach(offerSampleKey);
    open.addEventListener('click', () => {
      form.hidden = !form.hidden;
      open.ariaExpanded = String(!form.hidden);
      if (form.hidden) return;
      fillIn(panel);
      showCurl();
      form.querySelector('input, select, textarea, button')?.focus();
    });
    form.addEventListener('input', ({ target }) => {
      if (target.dataset.key !== undefined) keepKey(target.value);
    });
    panel.addEventListener('input', showCurl);
    panel.addEventListener('change', showCurl);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (submit.disabled) return;
      await sendAndShow(panel, submit);
      showCurl();
    });
  };
}
