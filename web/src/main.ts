// The page: one state, drawn once a frame.

import "./style.css";
import { read, write, type Place } from "./address";
import { colours, type Colours } from "./colours";
import { paint, Plot, smooth, type Line } from "./curves";
import { json, Recording, ROLE_NAMES, type Curve, type Listed, type Step } from "./data";
import { demandPanel, needed } from "./demand";
import { nextDifference, nextHost, nextMiss, type Found } from "./find";
import { fillHelp, layerBoxes, legend, LETTERS } from "./legend";
import { byId, fail, say } from "./dom";
import { warmedUp, watch } from "./live";
import { Ground, MapView, type Eye, type Layers, type Pointed, type Scene } from "./map";
import { Camera, type Piece } from "./picture";
import { listen } from "./pointer";
import { firstTheme, setTheme } from "./theme";
import { whoPanel } from "./who";
import { decisionPanel, element, vehiclePanel, type Asked } from "./why";

const SPEEDS = [0.25, 0.5, 1, 2, 5, 10, 20];

/** One map with its arm. */
interface Pane {
  arm: number;
  view: MapView;
  counter: HTMLElement;
  tip: HTMLElement;
  told: string;
}

class Page {
  private recording!: Recording;
  private ground!: Ground;
  private panes: Pane[] = [];
  private active = 0;
  private readonly eye: Eye = { x: 0, y: 0, scale: 1 };
  private time = 0;
  private playing = false;
  /** The run is under way: its end is not the end. */
  private growing = false;
  private speed = 1;
  private selected: number | null = null;
  private pointed: Pointed | null = null;
  private hovered: number | null = null;
  /** The missed object that is asked about, and who had seen it. */
  private miss: number | null = null;
  private witnesses: number[] = [];
  private follow = false;
  private readonly camera = new Camera(
    () => this.pieces(),
    (ending) => `covey-${this.recording.manifest.scenario}-${this.time.toFixed(2)}s.${ending}`,
    () => this.colours,
    () => this.play(true),
  );
  private readonly layers: Layers = { tiles: true, coverage: true, risk: false, misses: true };
  private colours: Colours = colours();
  private plots: Plot[] = [];
  private plotsOf = "";
  private panelOf = "";
  private panelAt = 0;
  private scrubbed = "";
  private dirty = true;
  private last = 0;
  private addressAt = 0;
  /** Milliseconds of script in the last frames, newest last. */
  readonly frames: number[] = [];
  /** Frames drawn since the page was opened. */
  drawn = 0;
  /** Milliseconds from the address to the first picture with everything of its moment in it. */
  shownMs: number | null = null;
  /** Such a picture has been drawn of this recording; what is not part of it is asked for afterwards. */
  private complete = false;

  constructor(private readonly list: Listed[]) {}

  start(recording: Recording, place: Partial<Place>): void {
    this.fillControls();
    this.open(recording, place);
    requestAnimationFrame((now) => this.frame(now));
  }

  private open(recording: Recording, place: Partial<Place>): void {
    this.recording = recording;
    this.complete = false;
    recording.onArrival = () => (this.dirty = true);
    recording.onFailure = fail;
    if (recording.failure) fail(recording.failure);
    this.ground = new Ground(recording.world);
    const m = recording.manifest;
    byId<HTMLSelectElement>("recording").value = String(recording.number);
    byId("about").title = m.readings ? JSON.stringify(m.readings, null, 1) : "";
    this.showExtent();
    const arm = byId<HTMLSelectElement>("arm");
    const versus = byId<HTMLSelectElement>("versus");
    arm.replaceChildren(...m.arms.map((a, i) => new Option(a.name, String(i))));
    versus.replaceChildren(new Option("nothing", ""), ...m.arms.map((a, i) => new Option(a.name, String(i))));
    this.time = this.clamp(place.time ?? recording.startS);
    const there = (id: number | null | undefined): id is number => m.vehicles.some((v) => v.id === id);
    this.selected = there(place.selected) ? place.selected : null;
    if (place.selected !== undefined && this.selected === null) say(`There is no vehicle ${place.selected}`);
    this.miss = there(place.miss) ? place.miss : null;
    this.witnesses = [];
    if (place.layers !== undefined) {
      for (const [key, letter] of LETTERS) {
        this.layers[key] = place.layers.includes(letter);
        byId<HTMLInputElement>(`layer-${key}`).checked = this.layers[key];
      }
    }
    this.follow = place.follow ?? false;
    const known = (n: number | null | undefined): n is number => n !== null && n !== undefined && n < m.arms.length;
    this.setArms(known(place.arm) ? place.arm : recording.firstArm, known(place.versus) ? place.versus : null);
    if (place.side === 1 && this.panes.length > 1) this.active = 1;
    this.panes[0]!.view.resize();
    this.panes[0]!.view.fit();
    if (place.x !== undefined) this.eye.x = place.x;
    if (place.y !== undefined) this.eye.y = place.y;
    if (place.scale !== undefined) this.eye.scale = place.scale;
  }

  /** How much there is. */
  private showExtent(): void {
    const r = this.recording;
    const m = r.manifest;
    byId("about").textContent = `${m.scenario}, seed ${m.seed}, ${m.vehicles.length} vehicles, ${(r.endS - r.startS).toFixed(0)} s${m.revision ? `, revision ${m.revision.slice(0, 12)}` : ""}`;
    const slider = byId<HTMLInputElement>("slider");
    slider.min = String(m.first_cycle);
    slider.max = String(m.first_cycle + Math.max(0, m.cycles - 1));
  }

  /** Follows a run that is under way: playing goes on as it does. */
  watch(): void {
    this.growing = true;
    this.play(true);
    const grown = async (): Promise<void> => {
      await this.recording.grow();
      for (const pane of this.panes) {
        pane.view.grow();
        pane.told = "";
      }
      this.showExtent();
      this.plotsOf = this.scrubbed = "";
      this.dirty = true;
    };
    const ended = (): boolean => (this.growing = false);
    watch(() => this.recording.manifest.cycles, grown, () => this.seek(this.recording.endS), ended);
  }

  private clamp(t: number): number {
    return Math.max(this.recording.startS, Math.min(this.recording.endS, t));
  }

  private setArms(arm: number, versus: number | null): void {
    const maps = byId("maps");
    maps.replaceChildren();
    this.panes = [];
    this.active = 0;
    for (const number of versus === null || versus === arm ? [arm] : [arm, versus]) {
      const name = this.recording.manifest.arms[number]!.name;
      const view = new MapView(this.recording.manifest, this.ground, this.eye, `Map of ${name}; click a vehicle, drag to move, wheel to zoom`);
      const box = element("div", "", { class: "map" });
      const counter = element("div", "", { class: "counter" });
      const tip = element("div", "", { class: "tip" });
      box.append(view.canvas, counter, tip);
      maps.append(box);
      const pane: Pane = { arm: number, view, counter, tip, told: "" };
      this.panes.push(pane);
      view.keepClearOf(counter, () => (this.dirty = true));
      this.listen(pane, this.panes.length - 1);
    }
    byId<HTMLSelectElement>("arm").value = String(arm);
    byId<HTMLSelectElement>("versus").value = this.panes.length > 1 ? String(versus) : "";
    this.panelOf = this.plotsOf = this.scrubbed = "";
    this.dirty = true;
  }

  private get pane(): Pane {
    return this.panes[this.active] ?? this.panes[0]!;
  }

  private place(): Place {
    return {
      recording: this.recording.number,
      arm: this.panes[0]!.arm,
      versus: this.panes[1]?.arm ?? null,
      time: this.time,
      x: this.eye.x,
      y: this.eye.y,
      scale: this.eye.scale,
      selected: this.selected,
      follow: this.follow,
      side: this.active,
      layers: LETTERS.filter(([key]) => this.layers[key])
        .map(([, letter]) => letter)
        .join(""),
      miss: this.miss,
    };
  }

  // ---- what can be done ----

  play(on: boolean): void {
    if (on && !this.growing && this.time >= this.recording.endS - 1e-6) this.time = this.recording.startS;
    this.playing = on;
    if (!on) this.camera.end();
    const button = byId("play");
    button.textContent = on ? "▮▮" : "▶";
    button.setAttribute("aria-label", on ? "Pause" : "Play");
    this.dirty = true;
    this.addressAt = 0;
  }

  seek(time: number): void {
    this.time = this.clamp(time);
    this.dirty = true;
    this.addressAt = 0;
  }

  stepCycles(n: number): void {
    this.play(false);
    const cycle = this.recording.cycleAt(this.time);
    this.seek(this.recording.timeOf(cycle + n));
    say(`${this.time.toFixed(2)} seconds`);
  }

  select(id: number | null, miss: number | null = null): void {
    this.selected = id;
    this.pointed = null;
    this.miss = miss;
    this.witnesses = [];
    if (id === null) this.follow = false;
    this.panelOf = this.plotsOf = "";
    this.dirty = true;
    this.addressAt = 0;
    if (id !== null) say(`Vehicle ${id}, ${ROLE_NAMES[this.pane.view.roleOf(id)]!}`);
  }

  private zoom(factor: number, at?: [number, number]): void {
    const [x, y] = at ?? [this.eye.x, this.eye.y];
    const scale = Math.max(0.03, Math.min(60, this.eye.scale * factor));
    const f = this.eye.scale / scale;
    this.eye.x = x + (this.eye.x - x) * f;
    this.eye.y = y + (this.eye.y - y) * f;
    this.eye.scale = scale;
    this.dirty = true;
    this.addressAt = 0;
  }

  private pan(dx: number, dy: number): void {
    this.eye.x += dx / this.eye.scale;
    this.eye.y += dy / this.eye.scale;
    this.follow = false;
    this.dirty = true;
    this.addressAt = 0;
  }

  private nextHost(by: number): void {
    const tiles = this.recording.arm(this.pane.arm, this.recording.cycleAt(this.time))?.tiles ?? [];
    const hosts = tiles.map((tile) => tile.host).filter((host): host is number => host !== null);
    if (hosts.length === 0) {
      say("No host in this arm");
      return;
    }
    const at = this.selected === null ? -1 : hosts.indexOf(this.selected);
    const next = hosts[(at + by + hosts.length) % hosts.length] ?? hosts[0]!;
    this.select(next);
    this.follow = true;
  }

  /** Goes to the next moment at which something happens. */
  async find(what: "miss" | "difference" | "host"): Promise<void> {
    this.play(false);
    const r = this.recording;
    const cycle = r.cycleAt(this.time);
    const arm = this.pane.arm;
    say("Looking …");
    let found: Found | null = null;
    if (what === "miss") found = await nextMiss(r, arm, cycle);
    else if (what === "host") found = await nextHost(r, arm, cycle);
    else if (this.panes.length > 1) found = await nextDifference(r, [this.panes[0]!.arm, this.panes[1]!.arm], cycle);
    else {
      say("Compare with another arm first");
      return;
    }
    if (!found) {
      say(`There is no ${{ miss: "miss", difference: "difference between the arms", host: "change of host" }[what]} in this recording`);
      return;
    }
    this.seek(r.timeOf(found.cycle));
    this.select(found.vehicle, found.object);
    this.follow = found.vehicle !== null;
    if (this.eye.scale < 1.5 && this.follow) this.eye.scale = 1.5;
    const about = found.object === null ? `vehicle ${found.vehicle}` : `vehicle ${found.vehicle} misses ${found.object}`;
    say(`${this.time.toFixed(2)} seconds: ${about}`);
  }

  /** The maps, each with what it shows in words. */
  private pieces(): Piece[] {
    const m = this.recording.manifest;
    const of = (pane: Pane): string => `${m.arms[pane.arm]!.name} · ${m.scenario}, seed ${m.seed}, ${this.time.toFixed(2)} s${m.revision ? ` · revision ${m.revision.slice(0, 12)}` : ""}`;
    return this.panes.map((pane) => ({ canvas: pane.view.canvas, text: of(pane) }));
  }

  private toggle(layer: keyof Layers): void {
    this.layers[layer] = !this.layers[layer];
    this.addressAt = 0;
    byId<HTMLInputElement>(`layer-${layer}`).checked = this.layers[layer];
    this.dirty = true;
  }

  private listen(pane: Pane, number: number): void {
    listen(pane.view.canvas, {
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, x, y) => this.zoom(factor, pane.view.toMap(x, y)),
      press: (x, y) => {
        this.active = number;
        this.select(pane.view.pick(x, y));
      },
      over: (spot) => {
        const over = spot && pane.view.pick(spot[0], spot[1]);
        if (over === this.hovered) return;
        this.hovered = over;
        this.dirty = true;
        pane.tip.textContent = over === null ? "" : `${over}: ${ROLE_NAMES[pane.view.roleOf(over)]!}`;
      },
      focus: () => (this.active = number),
    });
  }

  private fillControls(): void {
    const recording = byId<HTMLSelectElement>("recording");
    recording.replaceChildren(...this.list.map((item, i) => new Option(item.name, String(i))));
    recording.addEventListener("change", () => {
      this.play(false);
      Recording.open(Number(recording.value)).then(
        (opened) => this.open(opened, {}),
        (error: unknown) => fail(String(error)),
      );
    });
    const arm = byId<HTMLSelectElement>("arm");
    const versus = byId<HTMLSelectElement>("versus");
    const arms = (): void => this.setArms(Number(arm.value), versus.value === "" ? null : Number(versus.value));
    arm.addEventListener("change", arms);
    versus.addEventListener("change", arms);
    const speed = byId<HTMLSelectElement>("speed");
    speed.replaceChildren(...SPEEDS.map((s) => new Option(`${s}×`, String(s))));
    speed.value = "1";
    speed.addEventListener("change", () => (this.speed = Number(speed.value)));
    byId("play").addEventListener("click", () => this.play(!this.playing));
    byId("back").addEventListener("click", () => this.stepCycles(-1));
    byId("on").addEventListener("click", () => this.stepCycles(1));
    for (const what of ["miss", "difference", "host"] as const) byId(`next-${what}`).addEventListener("click", () => void this.find(what));
    byId("save-picture").addEventListener("click", () => this.camera.picture());
    byId("save-film").addEventListener("click", () => this.camera.toggle());
    const slider = byId<HTMLInputElement>("slider");
    slider.addEventListener("input", () => this.seek(this.recording.timeOf(Number(slider.value))));
    byId("theme").addEventListener("click", () => {
      setTheme(document.documentElement.dataset["theme"] === "dark" ? "light" : "dark", true);
      this.repaint();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    new ResizeObserver(() => (this.dirty = true)).observe(byId("maps"));
    this.fillLayers();
    fillHelp();
    byId("help-open").addEventListener("click", () => byId<HTMLDialogElement>("help").showModal());
    document.addEventListener("keydown", (event) => this.key(event));
    const seek = (part: number): void => {
      const { first_cycle: first, cycles } = this.recording.manifest;
      this.seek(this.recording.timeOf(first + Math.round(part * (cycles - 1))));
    };
    this.plots = [
      new Plot("Deficit (share of relevant objects)", 3, false, seek),
      new Plot("Cooperative load (share of capacity; dashed: target)", 2, false, seek),
      new Plot("Price (per ms of airtime)", 2, false, seek),
      new Plot("Contributors per host", 1, true, seek),
    ];
    byId("curves").append(element("h2", "Curves", { id: "curves-title" }), ...this.plots.map((plot) => plot.figure));
  }

  private repaint(): void {
    this.colours = colours();
    for (const pane of this.panes) pane.view.repaint();
    for (const plot of this.plots) plot.repaint();
    this.plotsOf = this.scrubbed = "";
    this.dirty = true;
    byId("layers").replaceChildren();
    this.fillLayers();
  }

  private fillLayers(): void {
    const changed = (): void => {
      this.addressAt = 0;
      this.dirty = true;
    };
    byId("layers").append(element("h2", "Layers and legend"), layerBoxes(this.layers, changed), legend(this.colours));
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === "SELECT" || target.closest("dialog")) return;
    const onMap = target.tagName === "CANVAS";
    const onSlider = target.id === "slider";
    const onButton = target.tagName === "BUTTON" || target.tagName === "A" || (target.tagName === "INPUT" && !onSlider);
    const pans: Record<string, [number, number]> = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const pan = pans[event.key];
    if (onMap && pan) this.pan(pan[0], pan[1]);
    else if (event.key === " " && !onButton) this.play(!this.playing);
    else if (event.key === "ArrowLeft" || event.key === ",") this.stepCycles(event.shiftKey ? -5 : -1);
    else if (event.key === "ArrowRight" || event.key === ".") this.stepCycles(event.shiftKey ? 5 : 1);
    else if (event.key === "Home") this.seek(this.recording.startS);
    else if (event.key === "End") this.seek(this.recording.endS);
    else if (event.key === "[" || event.key === "]") {
      const at = SPEEDS.indexOf(this.speed) + (event.key === "]" ? 1 : -1);
      this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))]!;
      byId<HTMLSelectElement>("speed").value = String(this.speed);
      say(`Speed ${this.speed}`);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") {
      this.pane.view.fit();
      this.follow = false;
      this.dirty = true;
    } else if (event.key === "f") {
      this.follow = this.selected !== null && !this.follow;
      this.dirty = true;
    } else if (event.key === "n") this.nextHost(1);
    else if (event.key === "p") this.nextHost(-1);
    else if (event.key === "m") this.toggle("coverage");
    else if (event.key === "r") this.toggle("risk");
    else if (event.key === "t") this.toggle("tiles");
    else if (event.key === "x") this.toggle("misses");
    else if (event.key === "j") void this.find("miss");
    else if (event.key === "d") void this.find("difference");
    else if (event.key === "h") void this.find("host");
    else if (event.key === "s") this.camera.picture();
    else if (event.key === "v") this.camera.toggle();
    else if (event.key === "c") {
      const count = this.recording.manifest.arms.length;
      const arm = this.panes[0]!.arm;
      this.setArms(arm, this.panes.length > 1 || count < 2 ? null : (arm + 1) % count);
    } else if (event.key === "Escape") this.select(null);
    else if (event.key === "?") byId<HTMLDialogElement>("help").showModal();
    else return;
    event.preventDefault();
  }

  // ---- drawing ----

  private frame(now: number): void {
    const begin = performance.now();
    if (this.playing) {
      const passed = Math.min(0.25, (now - this.last) / 1000);
      // What has not arrived yet is waited for.
      const step = Math.floor(this.time / this.recording.stepS + 1e-6);
      if (this.recording.step(step)) this.time = this.clamp(this.time + passed * this.speed);
      if (this.time >= this.recording.endS && !this.growing) this.play(false);
      this.dirty = true;
    }
    this.last = now;
    for (const pane of this.panes) if (pane.view.resize()) this.dirty = true;
    const drew = this.dirty;
    if (drew) {
      this.dirty = false;
      this.draw();
      this.camera.drawn();
    }
    if (now - this.addressAt > (this.playing ? 500 : 150)) {
      this.addressAt = now;
      const address = write(this.place());
      if (address !== location.search) history.replaceState(null, "", address);
    }
    if (drew) {
      this.drawn++;
      this.frames.push(performance.now() - begin);
      if (this.frames.length > 600) this.frames.shift();
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  private draw(): void {
    const r = this.recording;
    const exact = this.time / r.stepS;
    const step = Math.floor(exact + 1e-6);
    const before = r.step(step);
    const after = r.step(Math.min(step + 1, r.manifest.first_step + r.manifest.steps - 1));
    const cycle = r.cycleAt(this.time);
    if (this.complete) {
      r.prefetch(
        this.panes.map((pane) => pane.arm),
        cycle,
      );
    }
    if (this.follow && this.selected !== null && before) {
      const at = before.ids.indexOf(this.selected);
      if (at >= 0) [this.eye.x, this.eye.y] = [before.x[at]!, before.y[at]!];
      const next = after ? after.ids.indexOf(this.selected) : -1;
      const part = Math.max(0, exact - step);
      if (at >= 0 && next >= 0 && after) {
        this.eye.x += (after.x[next]! - before.x[at]!) * part;
        this.eye.y += (after.y[next]! - before.y[at]!) * part;
      }
    }
    const pairs = r.pairs(cycle);
    const roleStep = r.step(Math.round(r.timeOf(cycle) / r.stepS));
    let missing = !before || !pairs || !roleStep;
    for (const pane of this.panes) {
      const arm = r.arm(pane.arm, cycle);
      missing ||= !arm;
      const decided = this.selected === null ? undefined : r.lastDecision(pane.arm, cycle, this.selected);
      const explanation = decided === undefined ? undefined : this.heldExplanation(pane, decided);
      const scene: Scene = {
        time: this.time,
        before,
        after,
        part: Math.max(0, exact - step),
        pairs,
        arm,
        roleStep,
        selected: this.selected,
        hovered: this.hovered,
        explanation,
        pointed: this.pointed,
        missed: this.miss,
        witnesses: pane === this.pane ? this.witnesses : [],
        layers: this.layers,
      };
      if (pane.view.draw(scene, this.colours)) this.dirty = true;
      this.count(pane, cycle);
    }
    this.drawPanel(cycle, before);
    this.drawPlots(cycle);
    this.drawScrubber(cycle);
    byId("clock").textContent = `${this.time.toFixed(2)} s · cycle ${cycle}`;
    if (!missing && !this.complete) {
      this.complete = this.dirty = true;
      this.shownMs ??= performance.now();
    }
  }

  private readonly lastHeld = new Map<Pane, { host: number; value: ReturnType<Recording["explanation"]> }>();

  /** The newest explanation that has arrived: the heat must not flicker while the next one is on its way. */
  private heldExplanation(pane: Pane, cycle: number): ReturnType<Recording["explanation"]> {
    const host = this.selected!;
    const fresh = this.recording.explanation(pane.arm, cycle, host, this.playing);
    if (fresh !== undefined) {
      this.lastHeld.set(pane, { host, value: fresh });
      return fresh;
    }
    const held = this.lastHeld.get(pane);
    return held && held.host === host ? held.value : undefined;
  }

  /** Missed objects of this cycle, and since the start of the measured window. */
  private count(pane: Pane, cycle: number): void {
    const m = this.recording.manifest;
    const curve = this.complete ? this.recording.curve(pane.arm) : undefined;
    const key = `${cycle} ${curve !== undefined}`;
    if (pane.told === key) return;
    pane.told = key;
    if (!curve) {
      pane.counter.replaceChildren(this.named(pane), element("span", "…"));
      return;
    }
    const at = cycle - m.first_cycle;
    const from = Math.max(0, Math.floor(m.measured_from_us / m.cycle_us) - m.first_cycle);
    let [missed, relevant] = [0, 0];
    for (let i = from; i <= at; i++) {
      missed += curve.missed[i]!;
      relevant += curve.relevant[i]!;
    }
    const share = relevant > 0 ? ` (${((100 * missed) / relevant).toFixed(1)} %)` : "";
    const total = element("span", `${missed} of ${relevant} missed${share}`, { class: "missed total" });
    const now = element("span", `now ${curve.missed[at] ?? 0} of ${curve.relevant[at] ?? 0}; `);
    pane.counter.replaceChildren(this.named(pane), now, total);
  }

  /** An arm's name with the line that its curves have. */
  private named(pane: Pane): HTMLElement {
    const arm = this.recording.manifest.arms[pane.arm]!;
    const name = element("strong");
    const swatch = element("span", "", { class: this.panes.indexOf(pane) === 1 ? "swatch second" : "swatch" });
    swatch.style.borderTopColor = this.colours.arm(arm.paint);
    name.append(swatch, arm.name);
    return name;
  }

  private drawPanel(cycle: number, before: Step | undefined): void {
    const r = this.recording;
    const why = byId("why");
    const pane = this.pane;
    if (this.selected === null) {
      if (this.panelOf === "none") return;
      this.panelOf = "none";
      why.replaceChildren(
        element("h2", "Why"),
        element(
          "p",
          r.manifest.arms[pane.arm]!.hosted
            ? "Click a host (◆) to see its last decision, or any vehicle to see what it knows and misses. N goes from host to host."
            : "Senders decide for themselves in this arm: there are no hosts. Click any vehicle to see what it knows and misses.",
        ),
        element("p", "“Next miss” goes to the next object that somebody misses, and shows who could have told."),
      );
      return;
    }
    const arm = r.arm(pane.arm, cycle);
    const pairs = r.pairs(cycle);
    const decided = r.lastDecision(pane.arm, cycle, this.selected);
    const explanation = decided === undefined ? null : r.explanation(pane.arm, decided, this.selected, this.playing);
    const key = [pane.arm, this.selected, cycle, decided, explanation?.cycle, arm !== undefined, pairs !== undefined, this.miss].join("/");
    if (key === this.panelOf) return;
    // While playing, a table that changes five times a second cannot be read: once is enough.
    const same = this.panelOf.startsWith(`${pane.arm}/${this.selected}/`);
    const now = performance.now();
    if (this.playing && same && (explanation === undefined || now - this.panelAt < 1000)) return;
    this.panelAt = now;
    this.panelOf = key;
    const focus = document.activeElement?.closest("tr")?.getAttribute("data-agent");
    const scroll = why.querySelector(".decision .table")?.scrollTop ?? 0;
    const parts: HTMLElement[] = [];
    if (this.miss !== null && pairs && arm) parts.push(this.who(pane, cycle, this.selected, this.miss));
    if (explanation) {
      const asked: Asked = {
        recording: r.number,
        arm: pane.arm,
        scored: r.manifest.arms[pane.arm]!.scored,
        pointed: this.pointed,
        point: (about) => {
          this.pointed = about;
          this.dirty = true;
        },
        choose: (agent) => this.select(agent),
        known: (id) => r.manifest.vehicles.some((v) => v.id === id),
      };
      const at = r.timeOf(explanation.cycle);
      parts.push(explanation.by === "score" ? decisionPanel(explanation, at, asked) : demandPanel(explanation, at, asked));
    } else if (explanation === undefined) parts.push(element("p", "Loading the decision …"));
    const at = before ? before.ids.indexOf(this.selected) : -1;
    const speed = before && at >= 0 ? before.speed[at]! : null;
    const role = pane.view.roleOf(this.selected);
    parts.push(vehiclePanel(this.selected, role, speed, r.manifest, arm, pairs, (id) => this.select(id), (object) => this.select(this.selected, object)));
    if (r.manifest.arms.length > 1 && this.panes.length > 1) {
      parts.unshift(element("p", `Arm ${r.manifest.arms[pane.arm]!.name} (click in the other map for its side)`));
    }
    why.replaceChildren(...parts);
    const table = why.querySelector(".decision .table");
    if (table) table.scrollTop = scroll;
    if (focus) why.querySelector<HTMLElement>(`tr[data-agent="${focus}"] button`)?.focus({ preventScroll: true });
  }

  /** Who could have told a vehicle of what it misses. */
  private who(pane: Pane, cycle: number, vehicle: number, object: number): HTMLElement {
    const question = {
      recording: this.recording,
      arm: pane.arm,
      cycle,
      vehicle,
      object,
      choose: (id: number) => this.select(id),
      close: () => this.select(vehicle),
    };
    return whoPanel(question, (ids) => {
      this.witnesses = ids;
      this.dirty = true;
    });
  }

  private drawPlots(cycle: number): void {
    const r = this.recording;
    const m = r.manifest;
    // With a host selected the curves are of its tile, else of the whole region.
    const tile = this.selected === null ? undefined : r.arm(this.pane.arm, cycle)?.tiles.find((t) => t.host === this.selected);
    if (!this.complete) return;
    const held: Curve[] = [];
    for (const pane of this.panes) {
      const own = tile && r.tileCurves(pane.arm)?.find((t) => t.tile[0] === tile.tx && t.tile[1] === tile.ty);
      const curve = own ?? r.curve(pane.arm);
      if (!curve) return;
      held.push(curve);
    }
    const isTile = tile !== undefined && held.every((curve) => "tile" in curve);
    const key = `${this.panes.map((p) => p.arm).join()}/${isTile ? `${tile.tx},${tile.ty}` : ""}`;
    if (key !== this.plotsOf) {
      this.plotsOf = key;
      byId("curves-title").textContent = isTile ? `Curves of tile ${tile.tx}, ${tile.ty}` : "Curves of the whole region";
      const span = [r.timeOf(m.first_cycle), r.timeOf(m.first_cycle + Math.max(0, m.cycles - 1))] as const;
      const line = (values: (i: number) => ArrayLike<number>): Line[] =>
        this.panes.map((pane, i) => {
          const base = { name: m.arms[pane.arm]!.name, values: values(i), colour: this.colours.arm(m.arms[pane.arm]!.paint) };
          return i === 0 ? base : { ...base, dash: [5, 3] };
        });
      this.plots[0]!.set(line((i) => smooth(held[i]!.missed, held[i]!.relevant, 2)), null, span);
      this.plots[1]!.set(line((i) => held[i]!.load), m.target, span);
      this.plots[2]!.set(line((i) => held[i]!.price), null, span);
      this.plots[3]!.set(line((i) => held[i]!.contributors), null, span);
    }
    const part = m.cycles > 1 ? (cycle - m.first_cycle) / (m.cycles - 1) : 0;
    for (const plot of this.plots) plot.draw(part, this.colours);
  }

  private drawScrubber(cycle: number): void {
    const slider = byId<HTMLInputElement>("slider");
    if (slider.value !== String(cycle)) {
      slider.value = String(cycle);
      slider.setAttribute("aria-valuetext", `${this.time.toFixed(1)} seconds`);
    }
    const canvas = byId<HTMLCanvasElement>("deficit");
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [w, h] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    const key = `${this.panes.map((p) => p.arm).join()}/${w}x${h}`;
    if (key === this.scrubbed || w < 2 || !this.complete) return;
    const lines: Line[] = [];
    for (const [i, pane] of this.panes.entries()) {
      const curve = this.recording.curve(pane.arm);
      if (!curve) return;
      lines.push({
        name: this.recording.manifest.arms[pane.arm]!.name,
        values: smooth(curve.missed, curve.relevant, 2),
        colour: this.colours.arm(this.recording.manifest.arms[pane.arm]!.paint),
        ...(i === 0 ? {} : { dash: [5, 3] }),
      });
    }
    this.scrubbed = key;
    [canvas.width, canvas.height] = [w, h];
    let most = 1e-9;
    for (const line of lines) for (let i = 0; i < line.values.length; i++) most = Math.max(most, 1.1 * line.values[i]!);
    paint(canvas.getContext("2d")!, lines, most, null, w, h, ratio, this.colours);
  }

  // ---- for tests ----

  /** Hosts of the active arm that are on the screen, with their places on the page. */
  hosts(pane = 0): { id: number; x: number; y: number }[] {
    const p = this.panes[pane]!;
    const tiles = this.recording.arm(p.arm, this.recording.cycleAt(this.time))?.tiles ?? [];
    return tiles.flatMap((tile) => {
      const spot = tile.host === null ? null : p.view.placeOf(tile.host);
      return spot ? [{ id: tile.host!, x: spot[0], y: spot[1] }] : [];
    });
  }

  /** Hosts of the present cycle, wherever they are; null while it is on its way. */
  tileHosts(pane = 0): number[] | null {
    const arm = this.recording.arm(this.panes[pane]!.arm, this.recording.cycleAt(this.time));
    return arm ? arm.tiles.flatMap((tile) => (tile.host === null ? [] : [tile.host])) : null;
  }

  /** Texts of tiles that lie under the box of their pane's counts, and how many there are. */
  tileTexts(): { all: number; covered: number } {
    const texts = this.panes.flatMap((p) => p.view.textsUnder(p.counter));
    return { all: texts.length, covered: texts.filter((covered) => covered).length };
  }

  /** Marks of needed objects as drawn in a pane, and how many objects matter to the decision that it shows. */
  marks(pane = 0): { drawn: { id: number; need: number; half: number }[]; needed: number; cycle: number | null } {
    const p = this.panes[pane]!;
    const cycle = this.recording.cycleAt(this.time);
    const decided = this.selected === null ? undefined : this.recording.lastDecision(p.arm, cycle, this.selected);
    const e = decided === undefined ? null : this.recording.explanation(p.arm, decided, this.selected!);
    const all = e?.by === "demand" ? needed(e) : [];
    return { drawn: p.view.needs.map(({ id, need, half }) => ({ id, need, half })), needed: all.length, cycle: p.view.needsOf };
  }

  now(): { time: number; cycle: number; playing: boolean; selected: number | null; eye: Eye; arms: number[] } {
    const { time, playing, selected, eye } = this;
    return { time, cycle: this.recording.cycleAt(time), playing, selected, eye: { ...eye }, arms: this.panes.map((pane) => pane.arm) };
  }
}

declare global {
  interface Window {
    covey?: Page;
  }
}

/** Everything that the first picture needs is asked for at once. */
async function begin(): Promise<void> {
  const place = read(location.search);
  const number = place.recording ?? 0;
  let opening = Recording.open(number, place.time, [place.arm, place.versus]);
  opening.catch(() => {});
  let list = await json<Listed[]>("/api/recordings");
  if (list.length === 0) throw new Error("There are no recordings here.");
  const live = list.some((item) => item.live);
  if (live) {
    await warmedUp();
    say("");
    list = await json<Listed[]>("/api/recordings");
    opening = Recording.open(0, place.time, [place.arm, place.versus]);
  }
  const page = new Page(list);
  page.start(await (number < list.length ? opening : Recording.open(list.length - 1)), place);
  if (live) page.watch();
  window.covey = page;
  document.documentElement.dataset["ready"] = "true";
}

firstTheme();
begin().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
