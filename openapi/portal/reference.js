// The reference pages: the samples and the form of each operation, and which operation one reads.
{
  for (const panel of document.querySelectorAll('.call')) {
    const choice = panel.querySelector('[data-example]');
    choice?.addEventListener('change', () => {
      for (const sample of panel.querySelectorAll('[data-sample]'))
        sample.hidden = sample.dataset.sample !== choice.value;
      panel.querySelector('[data-body]').value = choice.selectedOptions[0].dataset.text;
    });
    for (const part of [choice?.parentElement, panel.querySelector('.try')]) if (part) part.hidden = false;
    window.portal.makeTryable(panel);
  }

  const side = document.querySelector('.side');
  const ownTitle = document.title;

  /** Marks the operation that one reads in the list at the side. */
  const mark = (route) => {
    for (const link of side.querySelectorAll('a')) {
      if (link.hash === `#${route}`) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    }
  };

  /** The title names the operation that the address names. */
  const nameOperation = () => {
    const section = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    document.title = section?.dataset.title ?? ownTitle;
    if (section?.dataset.title) mark(section.id);
  };

  const onScreen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) mark(target.id);
    },
    // A line below the bar.
    { rootMargin: '-20% 0% -80% 0%' },
  );
  for (const section of document.querySelectorAll('.operation')) onScreen.observe(section);
  addEventListener('hashchange', nameOperation);
  nameOperation();
}
