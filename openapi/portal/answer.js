// Shows an answer of the service, and remembers the ids in it for the next call.
{
  const { make, prepare } = window.portal;

  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  const pad = (depth) => `\n${'  '.repeat(depth)}`;

  const kindOf = (text, isName) => {
    if (text.startsWith('"')) return isName ? 'keyword' : 'string';
    return /^[\w-]/.test(text) ? 'constant' : '';
  };

  /** Sets JSON out in lines as it came: no number of it is ever read as one. */
  const layOut = (text) => {
    const tokens = text.match(token) ?? [];
    const code = make('code');
    let depth = 0;
    for (const [index, each] of tokens.entries()) {
      const [before, after] = [tokens[index - 1], tokens[index + 1]];
      const closes = /^[}\]]$/.test(each);
      if (closes) depth -= 1;
      const isInside = before !== undefined && /^[{[,]$/.test(before);
      if (isInside ? !(closes && /^[{[]$/.test(before)) : closes) code.append(pad(depth));
      const kind = kindOf(each, after === ':');
      code.append(kind === '' ? each : make('span', { className: kind, textContent: each }));
      if (each === ':') code.append(' ');
      if (/^[{[]$/.test(each)) depth += 1;
    }
    return code;
  };

  const isJson = (type) => /[/+]json\b/.test(type ?? '');

  const problemLink = (text) => {
    const code = /"code"\s*:\s*"([a-z0-9_]+)"/.exec(text)?.[1];
    if (code === undefined) return [];
    const link = make('a', {
      href: `problems/${code}.html`,
      textContent: `What ${code} means and what to do`,
    });
    return [make('p', {}, link)];
  };

  const headerTable = (headers) => {
    const rows = [...headers].map(([name, value]) => {
      const head = make('th', { scope: 'row', textContent: name });
      return make('tr', {}, head, make('td', { textContent: value }));
    });
    const summary = make('summary', { textContent: `Headers (${rows.length})` });
    return make('details', { open: true }, summary, make('table', {}, make('tbody', {}, ...rows)));
  };

  window.portal.viewAnswer = ({ response, text, ms }) => {
    const { status, statusText, headers, ok } = response;
    const type = headers.get('content-type');
    const outcome = make('span', { className: ok ? 'ok' : 'bad', textContent: `${status} ${statusText}` });
    const caption = make('figcaption', {}, make('span', {}, outcome, ` in ${ms} ms`));
    const empty = make('code', { textContent: 'No body' });
    const code = isJson(type) ? layOut(text) : make('code', { textContent: text });
    const body = make('pre', { tabIndex: 0, ariaLabel: 'Body of the answer' }, text === '' ? empty : code);
    body.setAttribute('role', 'region');
    const figure = make('figure', { className: 'code' }, caption, body);
    const view = make('div', {}, figure, ...(ok ? [] : problemLink(text)), headerTable(headers));
    if (text !== '') prepare(view);
    return [view];
  };

  // Ids that were answered in this tab, by the thing that they belong to. Secrets are not among them.
  const seen = new Map();

  const singular = (word) => word.replace(/s$/, '').toLowerCase();
  const remember = (thing, id) => {
    const known = (seen.get(thing) ?? []).filter((each) => each !== id);
    seen.set(thing, [id, ...known].slice(0, 20));
  };

  const collect = (value, thing) => {
    if (Array.isArray(value)) for (const each of [...value].reverse()) collect(each, thing);
    else if (value !== null && typeof value === 'object')
      for (const [name, inner] of Object.entries(value)) {
        if (name === 'id' && typeof inner === 'string') remember(thing, inner);
        else if (/^(event|rwa|nft|attendee)Id$/.test(name) && typeof inner === 'string')
          remember(name.slice(0, -2), inner);
        else collect(inner, singular(name));
      }
  };

  /** The last word of a path is what its answer is about: `/rwa/{id}/nfts` answers NFTs. */
  const thingOf = (path) => singular(path.split('/').findLast((step) => /^[a-z]+$/.test(step)) ?? '');

  window.portal.learn = ({ url }, { response, text }) => {
    if (!response.ok || !isJson(response.headers.get('content-type'))) return;
    collect(JSON.parse(text), thingOf(new URL(url).pathname));
  };

  /** The thing that a part of a path names: that before it, or that in its own name. */
  const wantedBy = (name, path) =>
    name === 'id' ? thingOf(path.slice(0, path.indexOf('{id}'))) : name.replace(/Id$/, '');

  /** Offers ids that were seen; the newest takes the place of the document's example, which no service knows. */
  window.portal.suggest = (panel) => {
    for (const input of panel.querySelectorAll('input[data-name$="Id"], input[data-name="id"]')) {
      const ids = seen.get(wantedBy(input.dataset.name, panel.dataset.path)) ?? [];
      if (ids.length === 0 || input.dataset.name === 'chainId') continue;
      const id = `${input.id}-seen`;
      panel.querySelector(`[id="${id}"]`)?.remove();
      input.after(make('datalist', { id }, ...ids.map((value) => make('option', { value }))));
      input.setAttribute('list', id);
      if (input.value === input.defaultValue && input.defaultValue !== '') input.value = ids[0];
    }
  };
}
