// Light or dark: as the system has it, unless somebody chose.

export function setTheme(theme: "light" | "dark", keep: boolean): void {
  document.documentElement.dataset["theme"] = theme;
  if (!keep) return;
  try {
    localStorage.setItem("covey-theme", theme);
  } catch {
    // Not kept where the browser forbids it: nothing else depends on it.
  }
}

export function firstTheme(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem("covey-theme");
  } catch {
    // As above.
  }
  const wants = matchMedia("(prefers-color-scheme: dark)");
  setTheme(kept === "dark" || (kept !== "light" && wants.matches) ? "dark" : "light", false);
  if (!kept) wants.addEventListener("change", () => setTheme(wants.matches ? "dark" : "light", false));
}
