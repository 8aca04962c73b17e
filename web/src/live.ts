// A run that is shown while it computes: how far it is, and how fast it may go.

import { json } from "./data";
import { byId, fail, say } from "./dom";

interface State {
  time_s: number;
  measured: boolean;
  cycles: number;
  paused: boolean;
  speed: number | null;
  done: boolean;
}

const SPEEDS: [string, string][] = [
  ["full", "as fast as it can"],
  ["1", "1×"],
  ["0.5", "0.5×"],
  ["0.2", "0.2×"],
  ["0.05", "0.05×"],
];

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Waits until there is something to show. */
export async function warmedUp(): Promise<void> {
  for (;;) {
    const state = await json<State>("/api/live");
    if (state.cycles > 0 || state.done) return;
    say(state.time_s > 0 ? `The run warms up: ${state.time_s.toFixed(0)} s of its time have passed; what is measured is shown` : "The run is being prepared");
    await pause(300);
  }
}

/** Says what the run is to do; the header keeps pages of other sites from saying it. */
async function tell(command: string): Promise<State> {
  const answer = await fetch(`/api/live/${command}`, { headers: { "X-Covey": "page" } });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return (await answer.json()) as State;
}

/** Looks at the run until it has ended. `grown` is called whenever there is more of it, and tells how many cycles are shown. */
export function watch(shown: () => number, grown: () => Promise<void>, newest: () => void, ended: () => void): void {
  const [bar, button, speed] = [byId("live"), byId("live-pause"), byId<HTMLSelectElement>("live-speed")];
  bar.hidden = false;
  speed.replaceChildren(...SPEEDS.map(([value, text]) => new Option(text, value)));
  let paused = false;
  const show = (state: State): void => {
    paused = state.paused;
    button.textContent = paused ? "Let the run go on" : "Pause the run";
    button.setAttribute("aria-pressed", String(paused));
    const pace = state.speed === null ? "full" : String(state.speed);
    if (![...speed.options].some((option) => option.value === pace)) speed.add(new Option(`${pace}×`, pace));
    if (document.activeElement !== speed) speed.value = pace;
    byId("live-state").textContent = state.done ? "The run has ended." : `The run is ${paused ? "paused" : "computing"}: ${state.time_s.toFixed(1)} s of its time.`;
  };
  const ask = (command: string): void => void tell(command).then(show, (error: unknown) => fail(String(error)));
  button.addEventListener("click", () => ask(paused ? "go" : "pause"));
  speed.addEventListener("change", () => ask(`speed/${speed.value}`));
  byId("live-newest").addEventListener("click", newest);
  const look = async (): Promise<void> => {
    for (;;) {
      const state = await json<State>("/api/live");
      show(state);
      if (state.cycles > shown()) await grown();
      if (state.done) break;
      await pause(400);
    }
    for (const control of [button, speed]) (control as HTMLButtonElement).disabled = true;
    ended();
  };
  look().catch((error: unknown) => fail(`The run can no longer be followed: ${error instanceof Error ? error.message : String(error)}`));
}
