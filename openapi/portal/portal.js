// What every page does when scripts run: light or dark, tabs of languages, copy buttons, search.
{
  const root = document.documentElement;
  const bar = document.querySelector('.bar');

  const make = (tag, values = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), values);
    element.append(...children);
    return element;
  };

  // Storage may be forbidden; then a choice holds for this page.
  const remember = (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {}
  };
  const remembered = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };

  // Under the name that the reference pages use.
  const switchColours = () => {
    const next = root.classList.contains('dark') ? 'light' : 'dark';
    root.classList.remove('light', 'dark');
    root.classList.add(next);
    remember('redoc.colorMode', next);
  };

  // On a reference page what stands behind the # belongs to its own routes, so the jump is made here.
  const skipToContent = (event) => {
    const target = document.querySelector('main');
    if (!target) return;
    event.preventDefault();
    target.tabIndex = -1;
    target.focus();
  };

  const addCopyButton = (block) => {
    const button = make('button', { type: 'button', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1500);
    });
    block.querySelector('figcaption').append(button);
  };

  const groups = [];

  /** All groups of the page show the language that was chosen last, or else their first. */
  const choose = (language) => {
    for (const { panels, tabs } of groups) {
      const wanted = Math.max(
        0,
        tabs.findIndex(({ textContent }) => textContent === language),
      );
      for (const [index, tab] of tabs.entries()) {
        tab.ariaSelected = String(index === wanted);
        tab.tabIndex = index === wanted ? 0 : -1;
        panels[index].hidden = index !== wanted;
      }
    }
  };
  const chooseAndRemember = (language) => {
    remember('portal.language', language);
    choose(language);
  };

  const makeTab = (panel, id) => {
    const label = panel.querySelector('figcaption').firstChild;
    const tab = make('button', {
      type: 'button',
      role: 'tab',
      textContent: label.textContent,
      id: `${id}-tab`,
    });
    label.remove();
    Object.assign(panel, { id, role: 'tabpanel' });
    tab.setAttribute('aria-controls', id);
    panel.setAttribute('aria-labelledby', tab.id);
    tab.addEventListener('click', () => chooseAndRemember(tab.textContent));
    return tab;
  };

  const makeTabs = (group, number) => {
    const panels = [...group.children];
    const tabs = panels.map((panel, index) => makeTab(panel, `tabs-${number}-${index}`));
    const list = make('div', { role: 'tablist', ariaLabel: 'Language' }, ...tabs);
    list.addEventListener('keydown', ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step === undefined) return;
      const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
      chooseAndRemember(next.textContent);
      next.focus();
    });
    group.prepend(list);
    groups.push({ panels, tabs });
  };

  // Not of the type search, where Escape empties the field instead of closing the dialog.
  const input = make('input', {
    type: 'text',
    placeholder: 'Search operations, guides and errors',
    ariaLabel: 'Search',
  });
  const status = make('p', { className: 'status', role: 'status' });
  const results = make('ul');
  const dialog = make('dialog', { className: 'search', ariaLabel: 'Search' }, input, status, results);

  // The index is a script, which also a page from a folder on disk can load.
  const loadIndex = () =>
    new Promise((resolve) => {
      if (window.portalIndex) resolve();
      else document.head.append(make('script', { src: bar.dataset.index, onload: resolve }));
    });

  /** How well an entry answers: every word must occur, and the title counts most. */
  const score = (entry, wanted) => {
    const [title, kind, words] = [entry.title, entry.kind, entry.words].map((text) => text.toLowerCase());
    const whole = wanted.join(' ');
    let sum = title === whole || words.split(' ')[0] === whole ? 20 : 0;
    for (const word of wanted) {
      if (title.startsWith(word)) sum += 12;
      else if (title.includes(word)) sum += 8;
      else if (kind.includes(word)) sum += 5;
      else if (words.split(/\W+/).includes(word)) sum += 3;
      else if (words.includes(word)) sum += 1;
      else return 0;
    }
    return sum;
  };

  const toItem = ({ href, title, kind }) => {
    const texts = [make('b', { textContent: title }), make('span', { textContent: kind })];
    return make('li', {}, make('a', { href: `${bar.dataset.root}${href}` }, ...texts));
  };

  const showResults = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = window.portalIndex
      .map((entry) => ({ entry, value: wanted.length === 0 ? 0 : score(entry, wanted) }))
      .filter(({ value }) => value > 0)
      .sort((a, b) => b.value - a.value)
      .slice(0, 12);
    results.replaceChildren(...found.map(({ entry }) => toItem(entry)));
    if (wanted.length === 0) status.textContent = '';
    else status.textContent = found.length === 0 ? 'Nothing found' : `${found.length} found`;
  };

  const openSearch = async () => {
    if (dialog.open) return;
    await loadIndex();
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
    event.stopImmediatePropagation();
    openSearch();
  };

  const mode = bar.querySelector('.mode');
  const find = bar.querySelector('.find');
  mode.hidden = false;
  find.hidden = false;
  mode.addEventListener('click', switchColours);
  find.addEventListener('click', openSearch);
  bar.querySelector('.skip').addEventListener('click', skipToContent);

  // The list of guides is open where there is room for it.
  const side = document.querySelector('.side details');
  if (side && matchMedia('(max-width: 860px)').matches) side.open = false;

  document.querySelectorAll('.tabs').forEach(makeTabs);
  choose(remembered('portal.language'));
  if (navigator.clipboard) document.querySelectorAll('figure.code').forEach(addCopyButton);

  document.body.append(dialog);
  input.addEventListener('input', showResults);
  dialog.addEventListener('keydown', moveInResults);
  dialog.addEventListener('click', ({ target }) => {
    // A click on the backdrop has the dialog itself as its target; one on a link goes there.
    if (target === dialog || target.closest('a')) dialog.close();
  });
  // Before all others: the reference pages have a search of their own under the same keys.
  window.addEventListener('keydown', openByKey, true);
}
