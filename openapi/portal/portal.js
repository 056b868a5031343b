// What every page does when scripts run: light or dark, tabs of languages, copy buttons.
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

  const switchColours = () => {
    const next = root.classList.contains('dark') ? 'light' : 'dark';
    root.classList.remove('light', 'dark');
    root.classList.add(next);
    remember('portal.colours', next);
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

  const makeTabs = (group) => {
    const panels = [...group.children];
    const tabs = panels.map((panel, index) => makeTab(panel, `tabs-${groups.length}-${index}`));
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

  const mode = bar.querySelector('.mode');
  mode.hidden = false;
  mode.addEventListener('click', switchColours);

  // A phone has no room for all areas. Other scripts still add buttons next to them.
  addEventListener('load', () => {
    const areas = bar.querySelector('nav');
    const current = areas.querySelector('[aria-current]');
    if (current) areas.scrollLeft = current.offsetLeft - areas.offsetLeft;
  });

  // The list of guides is open where there is room for it.
  const side = document.querySelector('.side details');
  if (side && matchMedia('(max-width: 860px)').matches) side.open = false;

  /** Gives a part of the page its tabs and its copy buttons. */
  const prepare = (part) => {
    part.querySelectorAll('.tabs').forEach(makeTabs);
    choose(remembered('portal.language'));
    if (navigator.clipboard) part.querySelectorAll('figure.code').forEach(addCopyButton);
  };
  prepare(document);
  // Another window of the portal chose another language.
  addEventListener('storage', ({ key, newValue }) => key === 'portal.language' && choose(newValue));
  window.portal = { make, prepare };
}
