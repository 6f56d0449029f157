/** What a page does besides, in a browser that runs scripts: copy buttons. Nothing depends on it. */
export const script = `
for (const button of document.querySelectorAll('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
`.trimStart();
