// The page's own elements, and what it says.

export function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

export function say(text: string): void {
  byId("status").textContent = text;
}

export function fail(text: string): void {
  const box = byId("failure");
  box.textContent = text;
  box.hidden = false;
}
