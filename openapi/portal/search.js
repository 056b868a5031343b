// The search of every page: a dialog, and MiniSearch over an index that is loaded when somebody begins to search.
{
  const { make } = window.portal;
  const bar = document.querySelector('.bar');
  const most = 12;
  // Said in questions, and in every text.
  const small = new Set('a an and do for how i in is my of on the to what with'.split(' '));

  // Not of the type search, where Escape empties the field instead of closing the dialog.
  const input = make('input', {
    type: 'text',
    placeholder: 'Search operations, guides, errors and documentation',
    ariaLabel: 'Search',
  });
  const status = make('p', { className: 'status', role: 'status' });
  const results = make('ul');
  const dialog = make('dialog', { className: 'search', ariaLabel: 'Search' }, input, status, results);

  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

  /** The words of a text, and the parts of names such as `createRwaNfts`. */
  const tokenize = (text) => {
    const parts = text.match(/\p{Lu}?\p{Ll}{2,}/gu) ?? [];
    return [...new Set([...wordsOf(text), ...parts.map((part) => part.toLowerCase())])];
  };

  let engine;
  const makeEngine = () => {
    const { MiniSearch, portalIndex } = window;
    const made = new MiniSearch({
      fields: ['title', 'name', 'kind', 'words'],
      storeFields: ['weight'],
      tokenize,
      searchOptions: {
        boost: { title: 6, name: 6, kind: 2 },
        boostDocument: (_id, _term, { weight }) => weight ?? 1,
        prefix: true,
        // One letter may be wrong, missing or too many, where enough are left.
        fuzzy: (word) => (word.length > 3 ? 1 : false),
        tokenize: wordsOf,
      },
    });
    made.addAll(portalIndex.entries.map((entry, id) => ({ ...entry, name: entry.id, id })));
    return made;
  };

  const synonymsOf = (word) =>
    window.portalIndex.synonyms
      .filter((group) => group.includes(word))
      .flat()
      .filter((other) => other !== word);

  /** A word, or what else it may be called, which counts less. */
  const eitherOf = (word) => {
    const others = synonymsOf(word);
    if (others.length === 0) return word;
    const same = { queries: others, combineWith: 'OR', fuzzy: false, prefix: false, boostTerm: () => 0.4 };
    return { queries: [word, same], combineWith: 'OR' };
  };

  const find = (text) => {
    const all = wordsOf(text);
    const telling = all.filter((word) => !small.has(word));
    const queries = (telling.length === 0 ? all : telling).map(eitherOf);
    const matching = engine.search({ queries, combineWith: 'AND' });
    const found = matching.length > 0 ? matching : engine.search({ queries, combineWith: 'OR' });
    const whole = text.trim().toLowerCase();
    const rank = ({ title, name, gone }) => {
      if (title.toLowerCase() === whole || name?.toLowerCase() === whole) return 0;
      return gone ? 2 : 1;
    };
    return found
      .map(({ id, score }) => ({ ...window.portalIndex.entries[id], score }))
      .map((entry) => ({ ...entry, name: entry.id }))
      .sort((a, b) => rank(a) - rank(b) || b.score - a.score)
      .slice(0, most);
  };

  // The index is a script, which also a page from a folder on disk can load.
  const loadIndex = () =>
    new Promise((resolve) => {
      if (window.portalIndex) resolve();
      else document.head.append(make('script', { src: bar.dataset.index, onload: resolve }));
    });

  const toItem = ({ href, title, kind, gone }) => {
    const about = gone ? `${kind} · no longer current` : kind;
    const texts = [make('b', { textContent: title }), make('span', { textContent: about })];
    return make('li', {}, make('a', { href: `${bar.dataset.root}${href}` }, ...texts));
  };

  const showResults = () => {
    const isEmpty = wordsOf(input.value).length === 0;
    const found = isEmpty ? [] : find(input.value);
    results.replaceChildren(...found.map(toItem));
    if (isEmpty) status.textContent = '';
    else status.textContent = found.length === 0 ? 'Nothing found' : `${found.length} found`;
  };

  const openSearch = async () => {
    if (dialog.open) return;
    await loadIndex();
    engine ??= makeEngine();
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    showResults();
  };

  const moveInResults = (event) => {
    const links = [...results.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    if (event.key === 'Enter' && at === -1) links[0]?.click();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    (links[at + step] ?? input).focus();
  };

  const openByKey = (event) => {
    // For a moment the field of a dialog that was just closed still has the focus.
    const closed = event.target === input && !dialog.open;
    const typing = !closed && event.target.closest?.('input, textarea, select, [contenteditable]');
    const byLetter = event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (!byLetter && (event.key !== '/' || typing)) return;
    event.preventDefault();
    openSearch();
  };

  const button = bar.querySelector('.find');
  button.hidden = false;
  button.addEventListener('click', openSearch);
  document.body.append(dialog);
  input.addEventListener('input', showResults);
  dialog.addEventListener('keydown', moveInResults);
  dialog.addEventListener('click', ({ target }) => {
    // A click on the backdrop has the dialog itself as its target; one on a link goes there.
    if (target === dialog || target.closest('a')) dialog.close();
  });
  addEventListener('keydown', openByKey);
}
