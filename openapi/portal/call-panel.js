// The reference pages: beside each operation its samples, and the form that sends it.
{
  const { prepare } = window.portal;
  const panels = new Map();

  const fromHtml = (html) => {
    const holder = document.createElement('div');
    holder.innerHTML = html;
    return holder.firstElementChild;
  };

  const showSample = (panel, name) => {
    for (const sample of panel.querySelectorAll('[data-sample]'))
      sample.hidden = sample.dataset.sample !== name;
  };

  const makePanel = (html) => {
    const panel = fromHtml(html);
    const choice = panel.querySelector('[data-example]');
    choice?.addEventListener('change', () => {
      showSample(panel, choice.value);
      panel.querySelector('[data-body]').value = choice.selectedOptions[0].dataset.text;
    });
    prepare(panel);
    window.portal.makeTryable(panel);
    return panel;
  };

  /** The place of the samples beside what the reference says of the request. */
  const placeIn = (section) =>
    section
      .querySelector('[id$="/request"]')
      ?.closest('[data-testid="middle-panel"]')
      ?.parentElement.querySelector(':scope > [data-testid="right-panel"]');

  const ownTitle = document.title;

  /** The title names the operation that the address names, which changes while one scrolls. */
  const nameOperation = () => {
    const [route] = location.hash.slice(1).split('#');
    document.title = window.portalCalls[route]?.title ?? ownTitle;
  };

  // What the maker's page lacks for those who hear it: a first heading wherever one reads, levels without a gap, and
  // a landmark around the menu. Of operations that are out of view it keeps nothing, so this follows what it shows.
  const heading = document.querySelector('.bar .heard');
  const amend = () => {
    heading.hidden = document.querySelector('#reference h1') !== null;
    for (const [name, level] of [
      ['h4', 3],
      ['h5', 4],
      ['h6', 5],
    ])
      for (const each of document.querySelectorAll(`#reference ${name}:not([aria-level])`))
        each.ariaLevel = level;
    const menu = document.querySelector('#reference .menu-content:not([role])');
    if (menu) Object.assign(menu, { role: 'navigation', ariaLabel: 'Operations' });
  };

  // The reference makes an operation when it comes into view, and anew when something changes: its panel stays the same.
  const mount = () => {
    for (const section of document.querySelectorAll('[data-section-id]')) {
      const route = section.dataset.sectionId;
      const addition = window.portalCalls[route];
      const place = addition && placeIn(section);
      if (!place || place.querySelector(':scope > .call')) continue;
      if (!panels.has(route)) panels.set(route, makePanel(addition.panel));
      place.append(panels.get(route));
      if (addition.around !== '' && !section.querySelector(':scope > .around'))
        section.append(fromHtml(addition.around));
    }
    nameOperation();
    amend();
  };

  const begin = () => {
    mount();
    for (const happening of ['hashchange', 'popstate', 'scrollend'])
      addEventListener(happening, nameOperation);
    new MutationObserver(mount).observe(document.querySelector('#reference'), {
      childList: true,
      subtree: true,
    });
  };
  // Not before the reference has taken over what was rendered when the page was built.
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin);
}
