// Who could have told me? A missed object: who had seen it, whom the host weighed, what was said and lost, and what would have cured it.

import { told } from "./demand";
import type { ArmCycle, DemandExplanation, Explanation, Recording, ScoreExplanation, Step } from "./data";
import { element, number } from "./why";

/** A miss that is asked about. */
export interface Question {
  recording: Recording;
  arm: number;
  cycle: number;
  vehicle: number;
  object: number;
  choose: (id: number) => void;
  close: () => void;
}

/** Everything that is known of a miss. */
interface Facts {
  /** Those who had seen it in time; null in recordings that do not tell. */
  seen: number[] | null;
  arm: ArmCycle;
  /** The decision that settled who speaks in this cycle: that of the cycle before. */
  decided: Explanation | null;
  decidedAt: number;
  /** The object as the host numbers it, where it chooses by demand. */
  as: number | null;
  /** What reports of those who had seen it would be worth by themselves, where hosts choose by demand. */
  alone: Map<number, { gain: number; bytes: number }>;
}

/** A place of the map in the grid's plane. */
function onGrid(r: Recording, x: number, y: number): [number, number] {
  const { origin_x_m: x0, origin_y_m: y0, azimuth_deg } = r.manifest.grid;
  const a = (azimuth_deg * Math.PI) / 180;
  const [dx, dy] = [x - x0, y - y0];
  return [dx * Math.cos(a) + dy * Math.sin(a), dy * Math.cos(a) - dx * Math.sin(a)];
}

function placeOf(r: Recording, step: Step | undefined, id: number): [number, number] | null {
  const at = step ? step.ids.indexOf(id) : -1;
  return step && at >= 0 ? onGrid(r, step.x[at]!, step.y[at]!) : null;
}

/** The host that serves a vehicle: that of its tile, else the nearest. */
function hostOf(r: Recording, arm: ArmCycle, step: Step | undefined, vehicle: number): number | null {
  const hosts = arm.tiles.filter((tile) => tile.host !== null);
  const at = placeOf(r, step, vehicle);
  if (!at) return hosts[0]?.host ?? null;
  const side = r.manifest.tile_m;
  const own = hosts.find((tile) => tile.tx === Math.floor(at[0] / side) && tile.ty === Math.floor(at[1] / side));
  if (own) return own.host;
  const far = (id: number): number => {
    const place = placeOf(r, step, id);
    return place ? Math.hypot(place[0] - at[0], place[1] - at[1]) : Infinity;
  };
  return hosts.map((tile) => tile.host!).sort((a, b) => far(a) - far(b))[0] ?? null;
}

async function gather(q: Question): Promise<Facts | null> {
  const r = q.recording;
  const [arm, pairs, seen] = await Promise.all([
    r.ready(() => r.arm(q.arm, q.cycle)),
    r.ready(() => r.pairs(q.cycle)),
    r.ready(() => r.seen(q.arm, q.cycle)),
  ]);
  if (!arm || !pairs) return null;
  let pair = -1;
  for (let i = 0; i < pairs.vehicle.length; i++) if (pairs.vehicle[i] === q.vehicle && pairs.object[i] === q.object) pair = i;
  if (pair < 0) return null;
  const facts: Facts = { seen: seen?.[String(pair)] ?? null, arm, decided: null, decidedAt: q.cycle, as: null, alone: new Map() };
  if (!r.manifest.arms[q.arm]!.hosted) return facts;
  // Who speaks in a cycle was settled at the end of the one before.
  const at = Math.max(r.manifest.first_cycle, q.cycle - 1);
  const before = await r.ready(() => r.arm(q.arm, at));
  const step = await r.ready(() => r.step(Math.round(r.timeOf(at) / r.stepS)));
  const host = before ? hostOf(r, before, step, q.vehicle) : null;
  if (host === null) return facts;
  facts.decidedAt = at;
  facts.decided = (await r.ready(() => r.explanation(q.arm, at, host))) ?? null;
  if (facts.decided?.by === "demand") {
    facts.as = asTheHostNumbersIt(r, facts.decided, step, q.object);
    const ids = facts.seen ?? [];
    if (ids.length > 0) {
      for (const row of await r.alone(q.arm, at, host, ids)) facts.alone.set(row.id, row);
    }
  }
  return facts;
}

/** The object among those of a choice: by its own number where it beacons, else the track at its place. */
function asTheHostNumbersIt(r: Recording, e: DemandExplanation, step: Step | undefined, object: number): number | null {
  if (e.snapshot.objects.some((o) => o.id === object)) return object;
  const at = placeOf(r, step, object);
  if (!at) return null;
  let [best, near]: [number | null, number] = [null, 4];
  for (const track of e.tracks ?? []) {
    const d = Math.hypot(track.x - at[0], track.y - at[1]);
    if (d < near) [best, near] = [track.id, d];
  }
  return best;
}

/** Who reports after a decision by score. */
export function contributors(e: ScoreExplanation): number[] {
  const set = new Set(e.snapshot.agents.filter((agent) => agent.role === "contributor").map((agent) => agent.id));
  for (const change of e.decision.changes) {
    if (change.action === "admit") set.add(change.id);
    else set.delete(change.id);
  }
  return [...set].sort((a, b) => a - b);
}

/** Who speaks of the object after a decision: those asked who had seen it, or the broadcast. */
function tellers(facts: Facts, e: Explanation): string[] {
  const seen = new Set(facts.seen ?? []);
  if (e.by === "score") {
    return contributors(e)
      .filter((id) => seen.has(id))
      .map(String);
  }
  const asked = e.decision.picks.filter((p) => p.pick === "report");
  const by = asked.filter((p) => (facts.as !== null && told(e, { kind: "report", id: p.id }).includes(facts.as)) || seen.has(p.id)).map((p) => String(p.id));
  if (facts.as !== null && e.decision.picks.some((p) => p.pick === "repeat" && p.id === facts.as)) by.push("the host's broadcast");
  return by;
}

/** Why a host by score did not ask for a view: the factor or the bound that kept it out. */
function outByScore(id: number, e: ScoreExplanation): string {
  const row = e.decision.scores.find((score) => score.id === id);
  if (!row) return "not weighed: the host did not hear it, or it is in another tile";
  const p = e.snapshot.parameters;
  const f = row.factors;
  const score = `score ${number(row.score)}`;
  if (contributors(e).includes(id)) return `asked to report (${score})`;
  const change = e.decision.changes.find((c) => c.id === id);
  if (change) return `removed: ${score}, ${change.because}`;
  const least = p["eta_add"] ?? 0;
  if (row.value < least) {
    if (f.visible < least) return `${score}: it sees next to nothing (${number(f.visible)} cells)`;
    if (f.novel < least) return `${score}: the twin holds what it sees already (new: ${number(f.novel)} of ${number(f.visible)} cells)`;
    if (f.at_risk < least) return `${score}: nobody is about to drive through what it sees (risk ${number(f.at_risk)})`;
    return `${score}: what it sees would come too late (in time: ${number(f.in_time)} of ${number(f.at_risk)})`;
  }
  if (row.score < least) return `${score}: its view is worth ${number(row.value)}, its airtime costs ${number(e.decision.price * row.airtime)} at price ${number(e.decision.price)}`;
  const bounds: Record<string, string> = { quota: "only so many may be admitted in a cycle", allowance: "the allowance is used up", cycle: "the cycle is full" };
  return `${score}, worth a place, but ${bounds[e.decision.binding] ?? "another scored higher"}`;
}

/** Why a host that chooses by demand did not ask for a view. */
function outByDemand(id: number, facts: Facts, e: DemandExplanation): string {
  const candidate = e.snapshot.candidates.find((c) => c.id === id);
  if (!candidate) return "not weighed: the host did not hear it, or it is in another tile";
  const pick = e.decision.picks.find((p) => p.pick === "report" && p.id === id);
  if (pick) return `asked to report (gain ${number(pick.gain)} for ${number(pick.bytes)} bytes)`;
  const alone = facts.alone.get(id);
  const worth = alone ? `gain ${number(alone.gain)} for ${number(alone.bytes)} bytes` : "gain unknown";
  const view = facts.as === null ? undefined : candidate.views.find(([object]) => object === facts.as);
  if (facts.as === null) return `${worth}; the host did not know of the object`;
  if (!view) return `${worth}; the host did not believe that it sees the object`;
  const least = e.snapshot.parameters["least_gain"] ?? 0;
  if (alone && alone.gain < least) return `${worth}: less than the least gain of ${number(least)}`;
  if (e.decision.cut) return `${worth}: the budget of ${number(e.decision.budget_bytes)} bytes went to others`;
  return `${worth}: after the other picks too little of it is left`;
}

/** What of a sender's message of this cycle reached the vehicle that misses the object. */
function said(arm: ArmCycle, id: number, vehicle: number): string {
  const sent = arm.deliveries.filter((d) => d.sender === id);
  if (sent.length === 0) return "said nothing";
  const reached = sent.filter((d) => d.receivers.includes(vehicle)).length;
  const what = sent.some((d) => d.broadcast) ? "broadcast" : "reported";
  if (reached === 0) return `${what}; lost on the way here`;
  // The object is missed all the same.
  const without = "without the object, or with what was too old by then";
  return reached === sent.length ? `${what}; decoded here, ${without}` : `${what} ${sent.length} times, ${reached} decoded here, ${without}`;
}

/** What control there is, with its scale. */
function controls(e: Explanation): { what: string; label: string; now: number; most: number }[] {
  if (e.by === "demand") {
    const now = e.decision.budget_bytes;
    return [{ what: "budget", label: "Budget of the host, in bytes a cycle", now, most: Math.max(4 * now, 1000) }];
  }
  const allowance = e.snapshot.parameters["allowance"] ?? 0;
  return [
    { what: "price", label: "Price of airtime", now: e.decision.price, most: Math.max(2 * e.decision.price, 2) },
    { what: "allowance", label: "Allowance, as a share of capacity", now: allowance, most: 1 },
  ];
}

function whatIf(q: Question, facts: Facts, e: Explanation): HTMLElement {
  const box = element("div", "", { class: "whatif", "data-cycle": String(facts.decidedAt), "data-host": String(e.decision.host) });
  box.append(element("h3", "Decide again"));
  const verdict = element("p", "", { class: "cured", role: "status" });
  const host = e.decision.host;
  const were = tellers(facts, e);
  const show = (again: Explanation, text: string): void => {
    const by = tellers(facts, again);
    const more = by.filter((teller) => !were.includes(teller));
    verdict.dataset["cured"] = String(more.length > 0);
    verdict.dataset["asked"] = (again.by === "score" ? contributors(again) : again.decision.picks.filter((p) => p.pick === "report").map((p) => p.id)).join();
    if (more.length > 0) verdict.textContent = `${text}: cured if it is in what ${more.join(", ")} would send, too, and arrives.`;
    else if (by.length > 0) verdict.textContent = `${text}: not cured, only those would tell who were to tell as it was (${by.join(", ")}).`;
    else verdict.textContent = `${text}: not cured, nobody who had seen it would be asked.`;
  };
  let asking = 0;
  for (const control of controls(e)) {
    const label = element("label", `${control.label}: `);
    const value = element("output", number(control.now));
    const slider = element("input", "", { type: "range", min: "0", max: String(control.most), step: String(control.most / 400), "data-what": control.what });
    slider.value = String(control.now);
    slider.addEventListener("input", () => {
      value.textContent = number(Number(slider.value));
      const turn = ++asking;
      q.recording.again(q.arm, facts.decidedAt, host, control.what, Number(slider.value)).then(
        (again) => turn === asking && show(again, `At ${control.what} ${number(Number(slider.value))}`),
        (error: unknown) => (verdict.textContent = String(error)),
      );
    });
    label.append(value, slider);
    box.append(label);
  }
  show(e, "As it was");
  // It is a miss: whoever was to tell did not.
  verdict.textContent =
    were.length > 0
      ? `As it was: missed, though ${were.join(", ")} ${were.length === 1 ? "was" : "were"} to tell: lost on the way, left out of the message, or too old by then.`
      : "As it was: nobody who had seen it was asked.";
  box.append(verdict);
  return box;
}

/** The answer, which comes as what it needs arrives; `seen` is told who had seen the object. */
export function whoPanel(q: Question, seen: (ids: number[]) => void): HTMLElement {
  const panel = element("div", "", { class: "who", "data-object": String(q.object) });
  panel.append(element("h2", `Who could have told ${q.vehicle} of ${q.object}?`), element("p", "Looking …"));
  gather(q).then(
    (facts) => {
      seen(facts?.seen ?? []);
      panel.replaceChildren(element("h2", `Who could have told ${q.vehicle} of ${q.object}?`), ...answer(q, facts));
      panel.dataset["ready"] = "true";
    },
    (error: unknown) => panel.append(element("p", String(error), { class: "warning" })),
  );
  return panel;
}

function answer(q: Question, facts: Facts | null): HTMLElement[] {
  const back = element("button", "Close", { type: "button" });
  back.addEventListener("click", q.close);
  if (!facts) return [element("p", "This miss is not in the recording at this moment."), back];
  if (!facts.seen) return [element("p", "Who had seen it is not in this recording: record the run again."), back];
  const e = facts.decided;
  const parts: HTMLElement[] = [];
  if (facts.seen.length === 0) {
    parts.push(element("p", "Nobody: no other participant had seen it within its deadline. No policy could have helped."));
  } else {
    const wrap = element("div", "", { class: "table" });
    const table = element("table");
    table.append(element("caption", `Participants that had seen it in time: ${facts.seen.length}`));
    const head = element("tr");
    for (const name of ["vehicle", "in this cycle", e ? `host ${e.decision.host} a cycle before` : ""]) if (name) head.append(element("th", name, { scope: "col" }));
    const thead = element("thead");
    thead.append(head);
    const body = element("tbody");
    for (const id of facts.seen) {
      const line = element("tr", "", { "data-agent": String(id) });
      const name = element("th", "", { scope: "row" });
      const button = element("button", String(id), { type: "button", title: `Select vehicle ${id}` });
      button.addEventListener("click", () => q.choose(id));
      name.append(button);
      line.append(name, element("td", said(facts.arm, id, q.vehicle), { class: "wrap" }));
      if (e) {
        const why = e.decision.host === id ? "it is the host itself" : e.by === "score" ? outByScore(id, e) : outByDemand(id, facts, e);
        line.append(element("td", why, { class: "wrap" }));
      }
      body.append(line);
    }
    table.append(thead, body);
    wrap.append(table);
    parts.push(wrap);
  }
  const hosts = facts.arm.deliveries.filter((d) => d.broadcast);
  if (hosts.length > 0) {
    const heard = hosts.filter((d) => d.receivers.includes(q.vehicle)).map((d) => d.sender);
    parts.push(element("p", heard.length > 0 ? `Broadcasts decoded here: of ${heard.join(", ")}.` : "No broadcast of this cycle was decoded here."));
  }
  // Where nobody had seen it there is nothing to decide otherwise.
  if (e && facts.seen.length > 0) parts.push(whatIf(q, facts, e));
  else if (!e && q.recording.manifest.arms[q.arm]!.hosted) parts.push(element("p", "No host decided nearby in the cycle before."));
  parts.push(back);
  return parts;
}
