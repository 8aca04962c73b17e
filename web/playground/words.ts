// What the page says in words.

import { element } from "../src/why";
import type { ArmAnswer, Missed } from "./junction";
import type { Vehicle } from "./scenes";

export { element };

/** Policies that can be compared: name, words, and whether hosts have a budget in it. */
const POLICIES: [string, string, boolean][] = [
  ["cam-only", "Beacons alone", false],
  ["cpm-etsi", "Everyone reports", false],
  ["cpm-rmr", "Everyone reports, repeats left out", false],
  ["random", "Hosts ask at random", true],
  ["proposed", "The letter's selection", true],
  ["demand", "Choice by demand", true],
  ["oracle", "Oracle: all know what anyone sees", false],
];

export const policies = (): [string, string][] => POLICIES.map(([name, text]) => [name, `${text} (${name})`]);
export const policyName = (name: string): string => POLICIES.find(([own]) => own === name)?.[1] ?? name;
export const takesBudget = (name: string): boolean => POLICIES.find(([own]) => own === name)?.[2] ?? false;

/** A side's heading: the policy in its colour, and what it comes to. */
export function captionOf(caption: HTMLElement, name: string, arm: ArmAnswer | undefined): void {
  const base = name.split("@")[0]!;
  const verdict = arm ? (arm.relevant === 0 ? "nothing matters to anybody" : `${arm.missed.length} of ${arm.relevant} missed`) : "…";
  const told = arm ? [`${(100 * arm.load).toFixed(1)} % of the channel beside beacons`] : [];
  if (arm && base !== "cam-only" && base !== "oracle") told.push(arm.speakers.length === 0 ? "nobody reports" : `${arm.speakers.length} vehicle${arm.speakers.length === 1 ? " reports" : "s report"}`);
  if (arm && takesBudget(base)) told.push(arm.hosts.length === 0 ? "no host" : arm.hosts.length === 1 ? `vehicle ${arm.hosts[0]} is the host` : `vehicles ${arm.hosts.join(", ")} are hosts`);
  if (arm && base === "proposed") told.push(`price ${arm.price.toFixed(2)}`);
  const key = `${name} ${verdict} ${told.join()} ${arm?.paint}`;
  if (caption.dataset["told"] === key) return;
  caption.dataset["told"] = key;
  const swatch = element("span", "", { class: "swatch", "aria-hidden": "true" });
  if (arm) swatch.style.background = `var(--paint-${arm.paint})`;
  const title = element("strong", policyName(base));
  const missed = element("span", verdict, { class: arm && arm.missed.length > 0 ? "verdict bad" : "verdict" });
  const rest = element("span", told.join(", "), { class: "rest" });
  caption.replaceChildren(swatch, title, ": ", missed, arm ? "; " : "", rest);
}

const HIDDEN: Record<Missed["hidden"], string> = {
  building: "behind a building",
  vehicle: "behind another vehicle",
  range: "out of its sensors' range",
  visible: "seen too late",
};

const list = (ids: number[]): string => (ids.length <= 4 ? ids.join(", ") : `${ids.slice(0, 3).join(", ")} and ${ids.length - 3} more`);

const sentence = (m: Missed): string =>
  `${m.vehicle} misses ${m.object}, ${HIDDEN[m.hidden]}; ${m.seen_by.length > 0 ? `${list(m.seen_by)} had seen it` : "nobody with a radio had seen it"}.`;

/** What an arm comes to, as sentences; the first few. */
export function sentences(arm: ArmAnswer): string[] {
  const lines = arm.missed.slice(0, 4).map(sentence);
  if (arm.missed.length > 4) lines.push(`And ${arm.missed.length - 4} more.`);
  if (lines.length === 0 && arm.relevant > 0) {
    const told = arm.told.length;
    lines.push(told > 0 ? `Nobody misses anything: ${told} of ${arm.relevant} ${told === 1 ? "is" : "are"} known because somebody told.` : "Nobody misses anything.");
  }
  return lines;
}

/** The selected vehicle: what it is, and what it knows under each policy. */
export function selectedPanel(vehicle: Vehicle | undefined, arms: ArmAnswer[], change: () => void): HTMLElement {
  const box = element("div");
  const known = element("div", "", { class: "known" });
  if (!vehicle) {
    known.append(element("p", "Select a vehicle to change it, and to see what it misses and who could have told."));
    box.append(known);
    return box;
  }
  box.append(element("h2", `Vehicle ${vehicle.id}`));
  const toggles: ["radio" | "dies" | "heavy", string][] = [
    ["radio", "has a radio"],
    ["dies", "its radio has died"],
    ["heavy", "is a truck"],
  ];
  for (const [key, text] of toggles) {
    const label = element("label", "", { class: "check" });
    const check = element("input", "", { type: "checkbox", "data-key": key });
    check.checked = vehicle[key] ?? false;
    check.addEventListener("change", () => {
      vehicle[key] = check.checked;
      change();
    });
    label.append(check, ` ${text}`);
    box.append(label);
  }
  const label = element("label", "Speed ");
  const now = element("output", `${vehicle.speed} m/s`);
  const slider = element("input", "", { type: "range", min: "0", max: "15", step: "0.5", "aria-label": "Speed in metres a second" });
  slider.value = String(vehicle.speed);
  slider.addEventListener("input", () => {
    vehicle.speed = Number(slider.value);
    now.textContent = `${vehicle.speed} m/s`;
    change();
  });
  label.append(now, slider);
  box.append(label);
  for (const arm of arms) {
    const own = arm.missed.filter((m) => m.vehicle === vehicle.id).map(sentence);
    const told = arm.told.filter((t) => t.vehicle === vehicle.id).map((t) => `It knows of ${t.object}${t.by === null ? " because somebody told" : ` from ${t.by}`}.`);
    known.append(element("p", `${policyName(arm.name.split("@")[0]!)}: ${[...own, ...told].join(" ") || (vehicle.radio ? "it misses nothing." : "it has no radio, and nothing is asked of it.")}`));
  }
  box.append(known);
  return box;
}

/** A mark of the legend, as a small picture. */
function mark(draw: string): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 16");
  svg.setAttribute("aria-hidden", "true");
  for (const part of draw.split("|")) {
    const [kind, d] = part.split(":") as [string, string];
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

export function legend(): HTMLElement[] {
  const body = "M3 5H17L21 8L17 11H3Z";
  const entries: [string, string][] = [
    [`listener:${body}`, "has a radio and listens"],
    [`contributor:M6 3L18 8L6 13Z`, "reports what it sees"],
    [`host:M12 1L19 8L12 15L5 8Z`, "host: decides who reports"],
    [`without:${body}`, "has no radio"],
    [`without:${body}|without:M3 5L17 11`, "its radio has died"],
    [`halo:M6 2L18 14M18 2L6 14|cross:M6 2L18 14M18 2L6 14`, "misses something that matters to its next decision"],
    ["missed:M1 8H23", "what it misses"],
    ["told:M1 8H23", "what it knows because somebody told"],
    ["could:M1 8H23", "who had seen it (of the selected vehicle)"],
  ];
  return entries.map(([draw, text]) => {
    const row = element("li");
    row.append(mark(draw), element("span", text));
    return row;
  });
}
