// Copy buttons, and the choice between light and dark that the reference pages share.
for (const block of document.querySelectorAll('figure')) {
  const caption = block.querySelector('figcaption');
  if (!caption || !navigator.clipboard) continue;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 1500);
  });
  caption.append(button);
}

const root = document.documentElement;
const mode = document.createElement('button');
mode.type = 'button';
mode.className = 'mode';
const dark = () => root.classList.contains('dark');
const label = () => (mode.textContent = dark() ? 'Light' : 'Dark');
mode.setAttribute('aria-label', 'Switch between light and dark');
mode.addEventListener('click', () => {
  const next = dark() ? 'light' : 'dark';
  root.classList.remove('light', 'dark');
  root.classList.add(next);
  localStorage.setItem('redoc.colorMode', next);
  label();
});
label();
document.querySelector('.bar')?.append(mode);
