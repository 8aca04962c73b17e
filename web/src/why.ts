// Why: a host's last decision as a table, and what a vehicle knows and misses.

import { Role, ROLE_NAMES, type ArmCycle, type Change, type Manifest, type Pairs, type ScoreExplanation } from "./data";
import type { Pointed } from "./map";

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text = "",
  attributes: Record<string, string> = {},
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** A number as precise as a reader needs it, as `covey decide` writes it: whole from 100 on, one decimal from 10 on, else at most three. */
export function number(x: number): string {
  const size = Math.abs(x);
  const places = size >= 100 ? 0 : size >= 10 ? 1 : 3;
  const scale = 10 ** places;
  const rounded = (Math.sign(x) * Math.round(size * scale)) / scale;
  const text = rounded.toFixed(places);
  const short = places > 0 ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  return short === "-0" ? "0" : short;
}

const plural = (n: number): string => (n === 1 ? "" : "s");

function because(change: Change, e: ScoreExplanation): string {
  const p = e.snapshot.parameters;
  const score = number(change.score);
  if (change.action === "admit") {
    return `${change.id} is admitted: its score ${score} reaches ${p["eta_add"]} and is the highest that fits (allowance used afterwards: ${e.decision.airtime_after.fraction.toFixed(3)} of ${p["allowance"]}).`;
  }
  if (change.because === "allowance") {
    return `${change.id} is removed: the set had outgrown its allowance of ${p["allowance"]} and ${change.id} scored lowest (${score}).`;
  }
  if (change.because === "cycle") {
    return `${change.id} is removed: the set had outgrown the cycle's ${(p["t_max_s"]! * 1e3).toFixed(0)} ms and ${change.id} scored lowest (${score}).`;
  }
  return `${change.id} is removed: its score ${score} is at or below ${p["eta_rem"]}.`;
}

function bound(e: ScoreExplanation): string {
  const p = e.snapshot.parameters;
  switch (e.decision.binding) {
    case "value":
      return `no candidate is worth ${p["eta_add"]} even for free`;
    case "price":
      return `the price of ${number(e.decision.price)}: at price 0 another candidate would reach ${p["eta_add"]}`;
    case "allowance":
      return `the allowance of ${p["allowance"]}: what is worth admitting does not fit`;
    case "cycle":
      return `the cycle of ${(p["t_max_s"]! * 1e3).toFixed(0)} ms: what is worth admitting does not fit`;
    case "quota":
      return `the quota of ${p["n_max"]} change${plural(p["n_max"]!)} per cycle: another candidate is worth a place`;
    default:
      return "nothing: no candidate is left";
  }
}

/** What bound a decision, for those who do not know the rule. */
const PLAIN: Record<string, string> = {
  value: "nobody is left whose view is worth its airtime",
  price: "somebody could still help, but airtime is too dear right now",
  allowance: "somebody could still help, but the host has spent its share of the channel",
  cycle: "somebody could still help, but the cycle is full",
  quota: "somebody else is worth a place and comes in the next cycle: only so many may change at once",
};

export interface Asked {
  recording: number;
  arm: number;
  scored: boolean;
  /** A row was pointed at: show what it is about. */
  point: (about: Pointed | null) => void;
  choose: (agent: number) => void;
  /** A vehicle has this number. */
  known: (id: number) => boolean;
  pointed: Pointed | null;
}

/** The decision, as `covey decide` explains it. */
export function decisionPanel(e: ScoreExplanation, timeS: number, asked: Asked): HTMLElement {
  const panel = element("div", "", { class: "decision" });
  const p = e.snapshot.parameters;
  const d = e.decision;
  panel.append(element("h2", `Host ${d.host}: decision of ${timeS.toFixed(2)} s`));
  panel.append(
    element(
      "p",
      `Tile ${e.tile[0]}, ${e.tile[1]}. Price ${number(d.price)}; the set as given takes ${d.airtime.fraction.toFixed(3)} of its allowance ${p["allowance"]} and ${(d.airtime.seconds * 1e3).toFixed(1)} ms of ${(p["t_max_s"]! * 1e3).toFixed(0)} ms. ` +
        `The twin holds something of ${d.map.length} cell${plural(d.map.length)}, ${d.map.reduce((sum, cell) => sum + cell[2], 0).toFixed(1)} in all.`,
    ),
  );
  const verdict = element("div", "", { class: "verdict" });
  if (asked.scored) {
    for (const change of d.changes) verdict.append(element("p", because(change, e)));
    if (d.changes.length === 0) verdict.append(element("p", "Nothing changes."));
    verdict.append(element("p", `What bound: ${bound(e)}.`, { class: "bound" }));
    const same =
      JSON.stringify(d.changes.map((c) => [c.action, c.id])) === JSON.stringify(e.recorded.changes.map((c) => [c.action, c.id]));
    if (!same) verdict.append(element("p", "The run recorded other changes than these: the recording and this program do not agree.", { class: "warning" }));
  } else {
    for (const change of e.recorded.changes) {
      verdict.append(element("p", `${change.id} ${change.action === "admit" ? "is admitted" : "is removed"}.`));
    }
    if (e.recorded.changes.length === 0) verdict.append(element("p", "Nothing changes."));
    verdict.append(element("p", "This arm does not decide by score. The scores below are what the letter's rule would have said."));
  }
  panel.append(verdict);
  if (asked.scored) panel.append(element("p", `In plain words: ${PLAIN[d.binding] ?? "everybody who could help is asked already"}.`, { class: "plain" }));
  const link = element("a", "Save this snapshot for covey decide", {
    href: `/api/${asked.recording}/snapshot/${asked.arm}/${e.cycle}/${d.host}`,
    download: `snapshot-arm${asked.arm}-cycle${e.cycle}-host${d.host}.json`,
    class: "export",
  });
  panel.append(link);
  const wrap = element("div", "", { class: "table" });
  const table = element("table");
  table.append(element("caption", "What each was worth, before any change; point at a row to see its cells"));
  const head = element("tr");
  const factor = (name: string, text: string): string => (p.factors.includes(name) ? text : `(${text})`);
  const columns = ["agent", "role", "sees cells", factor("novelty", "× new"), factor("risk", "× risk"), factor("timeliness", "× in time"), "value", "airtime", "× price", "score", ""];
  columns.forEach((name, i) => head.append(element("th", name, i >= 2 && i < 10 ? { scope: "col", class: "n" } : { scope: "col" })));
  const thead = element("thead");
  thead.append(head);
  const body = element("tbody");
  const rows = [...d.scores].sort((a, b) => b.score - a.score || a.id - b.id);
  const changes = asked.scored ? d.changes : e.recorded.changes;
  for (const row of rows) {
    const change = changes.findLast((c) => c.id === row.id);
    const remark = change ? (change.action === "admit" ? "admitted" : "removed") : "";
    const line = element("tr", "", { "data-agent": String(row.id) });
    if (change) line.className = change.action;
    const about: Pointed = { kind: "agent", id: row.id };
    if (asked.pointed?.kind === "agent" && asked.pointed.id === row.id) line.classList.add("pointed");
    const name = element("th", "", { scope: "row" });
    const button = element("button", String(row.id), { type: "button", title: `Select vehicle ${row.id}` });
    button.addEventListener("click", () => asked.choose(row.id));
    button.addEventListener("focus", () => asked.point(about));
    button.addEventListener("blur", () => asked.point(null));
    name.append(button);
    line.append(name, element("td", row.role));
    const f = row.factors;
    for (const x of [f.visible, f.novel, f.at_risk, f.in_time, row.value, row.airtime, d.price * row.airtime, row.score]) {
      line.append(element("td", number(x), { class: "n" }));
    }
    line.append(element("td", remark));
    line.addEventListener("mouseenter", () => asked.point(about));
    line.addEventListener("mouseleave", () => asked.point(null));
    body.append(line);
  }
  table.append(thead, body);
  wrap.append(table);
  if (rows.length === 0) panel.append(element("p", "There is no candidate and no contributor."));
  else panel.append(wrap);
  if (p.factors.length < 3) panel.append(element("p", "A factor in brackets is shown, but does not count in this score."));
  return panel;
}

const SOURCES = ["nothing", "own sensing", "its beacon", "a report", "a broadcast"];

/** Why a relevant object was missed. */
function whyMissed(known: number, ageMs: number, deadlineMs: number, sight: number, equipped: boolean): string {
  const view = ["its own sensor sees it", "a building blocks its own view", "another vehicle blocks its own view", "it is beyond its own sensor's range"][sight] ?? "";
  const state = (known & 7) === 0 ? "nothing is known of it" : `what is known is ${ageMs} ms old, ${ageMs - deadlineMs} ms too old`;
  const radio = equipped ? "it has a radio, but no beacon came through in time" : "it has no radio of its own";
  const hopeless = (known & 16) !== 0 ? "; no participant saw or heard it in time, so no policy could have helped" : "";
  return `${state}: ${view}, and ${radio}${hopeless}`;
}

/** What a vehicle knows of the objects that matter to it. */
export function vehiclePanel(
  id: number,
  role: Role,
  speed: number | null,
  manifest: Manifest,
  arm: ArmCycle | undefined,
  pairs: Pairs | undefined,
  choose: (id: number) => void,
  ask: (object: number) => void,
): HTMLElement {
  const panel = element("div", "", { class: "vehicle" });
  const body = manifest.vehicles.find((v) => v.id === id);
  panel.append(element("h2", `Vehicle ${id}`));
  const about = [ROLE_NAMES[role]!, body ? `${body.kind}, ${body.length.toFixed(1)} × ${body.width.toFixed(1)} × ${body.height.toFixed(1)} m` : ""];
  if (speed !== null) about.push(`${speed.toFixed(1)} m/s`);
  panel.append(element("p", about.filter(Boolean).join("; ")));
  if (!arm || !pairs) {
    panel.append(element("p", "Loading …"));
    return panel;
  }
  const rows: { object: number; missed: boolean; cells: string[]; why: string }[] = [];
  for (let i = 0; i < arm.known.length; i++) {
    if (pairs.vehicle[i] !== id) continue;
    const [known, age, deadline, flags] = [arm.known[i]!, arm.ageMs[i]!, pairs.deadlineMs[i]!, pairs.flags[i]!];
    const object = pairs.object[i]!;
    const missed = (known & 8) !== 0;
    const source = SOURCES[known & 7]! + (arm.from[i]! > 0 ? ` of ${arm.from[i]! - 1}` : "");
    const equipped = manifest.vehicles.find((v) => v.id === object)?.equipped ?? false;
    rows.push({
      object,
      missed,
      cells: [(flags & 3) === 0 ? "ahead" : "crosses", source, (known & 7) === 0 ? "–" : `${age} ms`, `${deadline} ms`],
      why: missed ? whyMissed(known, age, deadline, flags >> 2, equipped) : "",
    });
  }
  const missed = rows.filter((row) => row.missed).length;
  if (!body?.equipped && rows.length === 0) {
    panel.append(element("p", "It has no radio: it takes no part, and what it knows is not recorded."));
    return panel;
  }
  panel.append(element("p", rows.length === 0 ? "No object is relevant to it right now." : `${rows.length} relevant object${plural(rows.length)}, ${missed} missed.`, { class: "summary" }));
  if (rows.length === 0) return panel;
  rows.sort((a, b) => Number(b.missed) - Number(a.missed) || a.object - b.object);
  const wrap = element("div", "", { class: "table" });
  const table = element("table");
  table.append(element("caption", "Objects that matter to its next decision"));
  const head = element("tr");
  for (const name of ["object", "why it matters", "known by", "age", "deadline", ""]) head.append(element("th", name, { scope: "col" }));
  const thead = element("thead");
  thead.append(head);
  const tbody = element("tbody");
  for (const row of rows) {
    const line = element("tr", "", row.missed ? { class: "missed" } : {});
    const name = element("th", "", { scope: "row" });
    const button = element("button", String(row.object), { type: "button", title: `Select vehicle ${row.object}` });
    button.addEventListener("click", () => choose(row.object));
    name.append(button);
    line.append(name);
    for (const cell of row.cells) line.append(element("td", cell));
    const end = element("td", row.missed ? "" : "✓");
    if (row.missed) {
      const who = element("button", "✗ missed: who?", { type: "button", title: `Who could have told of ${row.object}?`, "data-miss": String(row.object) });
      who.addEventListener("click", () => ask(row.object));
      end.append(who);
    }
    line.append(end);
    tbody.append(line);
    if (row.why) {
      const reason = element("tr", "", { class: "reason" });
      reason.append(element("td", row.why, { colspan: "6" }));
      tbody.append(reason);
    }
  }
  table.append(thead, tbody);
  wrap.append(table);
  panel.append(wrap);
  return panel;
}
