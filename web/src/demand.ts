// Why, where hosts choose by demand: who lacks what, what was picked, and what each pick is worth.

import type { DemandExplanation } from "./data";
import type { Pointed } from "./map";
import { element, number, type Asked } from "./why";

/** Rows of the table of objects; the rest is counted. */
const MOST_OBJECTS = 60;

/** Objects whose needs the host takes contributors to see by themselves: they report them without being asked. */
function content(e: DemandExplanation): Set<number> {
  const p = e.snapshot.parameters;
  const wanted = new Map<number, number>();
  for (const [, object, , next] of e.snapshot.needs) wanted.set(object, (wanted.get(object) ?? 0) + next);
  const judged = e.snapshot.objects.filter((o) => o.silent || p.request_factor === null);
  return new Set(judged.filter((o) => (wanted.get(o.id) ?? 0) >= p.threshold).map((o) => o.id));
}

/** The objects that a row is about: what a report would tell, or the one object. */
export function told(e: DemandExplanation, pointed: Pointed): number[] {
  if (pointed.kind !== "report") return [pointed.id];
  const reported = content(e);
  for (const id of e.decision.requested) reported.add(id);
  const views = e.snapshot.candidates.find((c) => c.id === pointed.id)?.views ?? [];
  return views.map(([object]) => object).filter((object) => reported.has(object));
}

/** An object that matters: somebody needs it by as much as makes contributors report it, now or in the next cycle. */
export interface Needed {
  id: number;
  /** Listeners' chances of lacking it, summed. */
  need: number;
}

/** Objects that matter to a choice, the most needed first. What is needed less has no mark: nobody would speak for it alone. */
export function needed(e: DemandExplanation): Needed[] {
  const sums = new Map<number, [number, number]>();
  for (const [, object, now, next] of e.snapshot.needs) {
    const sum = sums.get(object) ?? [0, 0];
    sums.set(object, [sum[0] + now, sum[1] + next]);
  }
  const all = [...sums].map(([id, [now, next]]) => ({ id, need: Math.max(now, next) }));
  return all.filter((o) => o.need >= e.snapshot.parameters.threshold).sort((a, b) => b.need - a.need || a.id - b.id);
}

const names = (ids: number[], most: number): string => ids.slice(0, most).join(", ") + (ids.length > most ? " and " + (ids.length - most) + " more" : "");

/** The choice, as `covey decide` explains it. */
export function demandPanel(e: DemandExplanation, timeS: number, asked: Asked): HTMLElement {
  const panel = element("div", "", { class: "decision demand" });
  const { snapshot: s, decision: d } = e;
  panel.append(element("h2", `Host ${d.host}: choice of ${timeS.toFixed(2)} s`));
  const count = needed(e).length;
  const squares = count === 0 ? "No object matters enough for a square on the map." : `Squares on the map, larger for a greater need: the ${count === 1 ? "object that matters" : `${count} objects that matter`}.`;
  panel.append(element("p", `Tile ${e.tile[0]}, ${e.tile[1]}. ${squares} Dashed bodies: where the host believes objects without a radio to be. This policy keeps no coverage map.`));
  const verdict = element("div", "", { class: "verdict" });
  verdict.append(
    element("p", `Host ${d.host}: ${s.listeners.length} listeners need ${s.objects.length} objects (${s.needs.length} needs); ${s.candidates.length} could report.`),
    element("p", `${number(d.bytes)} of ${number(d.budget_bytes)} bytes; needs left open: ${number(d.open_now)} now, ${number(d.open_next)} in the next cycle.`),
    element("p", d.cut ? "What bound: the budget; something worth picking did not fit." : "What bound: nothing; no other pick is worth it.", { class: "bound" }),
  );
  panel.append(verdict);
  panel.append(element("p", d.cut ? "In plain words: somebody could still help, but the bytes are spent." : "In plain words: nobody is left whose view is worth its airtime.", { class: "plain" }));
  const key = (picks: { pick: string; id: number }[]): string => picks.map((p) => `${p.pick} ${p.id}`).join();
  if (!asked.scored) {
    const drawn = e.recorded.picks.filter((p) => p.pick === "report").map((p) => p.id);
    panel.append(element("p", `This arm draws at random who reports: ${names(drawn, 12) || "nobody"}. Below is what choosing by gain would have picked.`, { class: "drawn" }));
  } else if (key(e.recorded.picks) !== key(d.picks)) {
    panel.append(element("p", "The run recorded other picks than these: the recording and this program do not agree.", { class: "warning" }));
  }
  panel.append(
    element("a", "Save this snapshot for covey decide", {
      href: `/api/${asked.recording}/snapshot/${asked.arm}/${e.cycle}/${d.host}`,
      download: `snapshot-arm${asked.arm}-cycle${e.cycle}-host${d.host}.json`,
      class: "export",
    }),
  );
  if (d.picks.length === 0) panel.append(element("p", "Nothing is worth its bytes."));
  else panel.append(picksTable(e, asked));
  if (d.picks.some((p) => p.pick === "report" && told(e, { kind: "report", id: p.id }).length === 0)) {
    panel.append(element("p", "Reports of which nothing is foreseen are asked for so that nobody is forgotten: a bonus grows with the time since the last one."));
  }
  if (s.objects.length > 0) panel.append(objectsTable(e, asked));
  return panel;
}

function table(caption: string, columns: [string, boolean][]): [HTMLElement, HTMLElement] {
  const wrap = element("div", "", { class: "table" });
  const made = element("table");
  made.append(element("caption", caption));
  const head = element("tr");
  for (const [name, numeric] of columns) head.append(element("th", name, numeric ? { scope: "col", class: "n" } : { scope: "col" }));
  const thead = element("thead");
  thead.append(head);
  const body = element("tbody");
  made.append(thead, body);
  wrap.append(made);
  return [wrap, body];
}

/** Numbers from here on are a host's own: the host's in the bits above the object's 16. */
const SCOPED = 2 ** 48;

/** What an object is called: a vehicle's number, or the host's own for a track. */
function called(id: number): string {
  return String(id < SCOPED ? id : id % 65536);
}

/** Makes a row answer to pointing and to the keyboard. */
function live(line: HTMLElement, id: number, about: Pointed, asked: Asked): HTMLElement {
  // Hosts tell silent objects apart by tracks, with numbers of their own: whose track it is, only the simulation knows.
  const known = asked.known(id);
  const title = known ? `Select vehicle ${id}` : `Track ${called(id)} of this host: an object without a radio, by the host's own number`;
  const button = element("button", called(id), { type: "button", title });
  if (known) button.addEventListener("click", () => asked.choose(id));
  button.addEventListener("focus", () => asked.point(about));
  button.addEventListener("blur", () => asked.point(null));
  line.addEventListener("mouseenter", () => asked.point(about));
  line.addEventListener("mouseleave", () => asked.point(null));
  if (asked.pointed?.kind === about.kind && asked.pointed.id === id) line.classList.add("pointed");
  return button;
}

function picksTable(e: DemandExplanation, asked: Asked): HTMLElement {
  const [wrap, body] = table("What was picked, in order; point at a row to see what it tells whom", [
    ["pick", false],
    ["id", true],
    ["gain", true],
    ["bytes", true],
    ["gain per 100 bytes", true],
    ["objects", true],
    ["listeners", true],
  ]);
  for (const pick of e.decision.picks) {
    const about: Pointed = { kind: pick.pick, id: pick.id };
    const objects = new Set(told(e, about));
    const listeners = new Set(e.snapshot.needs.filter(([who, what]) => objects.has(what) && who !== pick.id).map(([who]) => who));
    const line = element("tr", "", { class: pick.pick, "data-agent": String(pick.id), "data-pick": pick.pick });
    const name = element("td", "", { class: "n" });
    name.append(live(line, pick.id, about, asked));
    line.append(element("th", pick.pick, { scope: "row" }), name);
    const per = (100 * pick.gain) / Math.max(pick.bytes, 1e-9);
    for (const x of [pick.gain, pick.bytes, per, objects.size, listeners.size]) line.append(element("td", number(x), { class: "n" }));
    body.append(line);
  }
  return wrap;
}

function objectsTable(e: DemandExplanation, asked: Asked): HTMLElement {
  const reports = e.decision.picks.filter((p) => p.pick === "report").map((p) => ({ id: p.id, objects: new Set(told(e, { kind: "report", id: p.id })) }));
  const has = (pick: string, id: number): boolean => e.decision.picks.some((p) => p.pick === pick && p.id === id);
  const rows = e.snapshot.objects.map((object) => {
    const needs = e.snapshot.needs.filter(([, what]) => what === object.id);
    const sum = (at: 2 | 3): number => needs.reduce((total, need) => total + need[at], 0);
    const by = reports.filter((r) => r.objects.has(object.id)).map((r) => r.id);
    const how = [by.length > 0 ? `reports of ${names(by, 3)}` : "", has("repeat", object.id) ? "the broadcast" : ""].filter(Boolean);
    return { object, listeners: needs.map(([who]) => who), now: sum(2), next: sum(3), how: how.join(", ") || "nobody" };
  });
  rows.sort((a, b) => b.next - a.next || a.object.id - b.object.id);
  const shown = rows.slice(0, MOST_OBJECTS);
  const rest = rows.length > shown.length ? `; ${rows.length - shown.length} more are needed less` : "";
  const [wrap, body] = table(`What is missing: objects that somebody needs and may lack${rest}`, [
    ["object", false],
    ["", false],
    ["lacking now", true],
    ["next cycle", true],
    ["told by", false],
    ["listeners that need it", false],
  ]);
  for (const row of shown) {
    const about: Pointed = { kind: "object", id: row.object.id };
    const line = element("tr", "", { "data-object": String(row.object.id) });
    const name = element("th", "", { scope: "row" });
    name.append(live(line, row.object.id, about, asked));
    const track = asked.known(row.object.id) ? "" : " track";
    line.append(name, element("td", (row.object.silent ? "silent" : "beacons") + track));
    for (const x of [row.now, row.next]) line.append(element("td", number(x), { class: "n" }));
    line.append(element("td", row.how, { class: "wrap" }), element("td", names(row.listeners, 6), { class: "wrap" }));
    body.append(line);
  }
  wrap.classList.add("missing");
  return wrap;
}
