// Keys are for the page while nobody writes in a field.
export const isTyping = (event) => event.target.matches('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey;

// j and k move through whatever list is there: through the elements that match, in their order on the page.
export function step(event, container, selector) {
  if (isTyping(event) || (event.key !== 'j' && event.key !== 'k')) return;
  const all = [...(container?.querySelectorAll(selector) ?? [])];
  const index = all.findIndex((it) => it === document.activeElement || it.parentElement?.contains(document.activeElement));
  const next = all[index < 0 ? 0 : Math.max(0, Math.min(all.length - 1, index + (event.key === 'j' ? 1 : -1)))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
