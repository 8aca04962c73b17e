// The page: one state, drawn once a frame.

import "./style.css";
import { read, write, type Place } from "./address";
import { colours, type Colours } from "./colours";
import { paint, Plot, smooth, type Line } from "./curves";
import { json, Recording, Role, ROLE_NAMES, type Curve, type Listed, type Step } from "./data";
import { demandPanel } from "./demand";
import { Ground, MapView, type Eye, type Layers, type Pointed, type Scene } from "./map";
import { decisionPanel, element, vehiclePanel, type Asked } from "./why";

const SPEEDS = [0.25, 0.5, 1, 2, 5, 10, 20];

function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

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
  private speed = 1;
  private selected: number | null = null;
  private pointed: Pointed | null = null;
  private hovered: number | null = null;
  private follow = false;
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
    performance.mark("opened");
    this.ground = new Ground(recording.world);
    const m = recording.manifest;
    byId<HTMLSelectElement>("recording").value = String(recording.number);
    byId("about").textContent = `${m.scenario}, seed ${m.seed}, ${m.vehicles.length} vehicles, ${(recording.endS - recording.startS).toFixed(0)} s`;
    const arm = byId<HTMLSelectElement>("arm");
    const versus = byId<HTMLSelectElement>("versus");
    arm.replaceChildren(...m.arms.map((a, i) => new Option(a.name, String(i))));
    versus.replaceChildren(new Option("nothing", ""), ...m.arms.map((a, i) => new Option(a.name, String(i))));
    const slider = byId<HTMLInputElement>("slider");
    slider.min = String(m.first_cycle);
    slider.max = String(m.first_cycle + Math.max(0, m.cycles - 1));
    this.time = this.clamp(place.time ?? recording.startS);
    this.selected = place.selected ?? null;
    this.follow = place.follow ?? false;
    const known = (n: number | null | undefined): n is number => n !== null && n !== undefined && n < m.arms.length;
    this.setArms(known(place.arm) ? place.arm : 0, known(place.versus) ? place.versus : null);
    this.panes[0]!.view.resize();
    this.panes[0]!.view.fit();
    if (place.x !== undefined) this.eye.x = place.x;
    if (place.y !== undefined) this.eye.y = place.y;
    if (place.scale !== undefined) this.eye.scale = place.scale;
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
    };
  }

  // ---- what can be done ----

  play(on: boolean): void {
    if (on && this.time >= this.recording.endS - 1e-6) this.time = this.recording.startS;
    this.playing = on;
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

  select(id: number | null): void {
    this.selected = id;
    this.pointed = null;
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

  private toggle(layer: keyof Layers): void {
    this.layers[layer] = !this.layers[layer];
    byId<HTMLInputElement>(`layer-${layer}`).checked = this.layers[layer];
    this.dirty = true;
  }

  private listen(pane: Pane, number: number): void {
    const canvas = pane.view.canvas;
    let held: { x: number; y: number; moved: boolean } | null = null;
    const fingers = new Map<number, [number, number]>();
    let pinch = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      held = { x: event.clientX, y: event.clientY, moved: fingers.size > 1 };
      pinch = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()] as [[number, number], [number, number]];
        const d = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (pinch > 0 && d > 0) this.zoom(d / pinch, pane.view.toMap((a[0] + b[0]) / 2, (a[1] + b[1]) / 2));
        pinch = d;
        return;
      }
      if (held) {
        const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
        if (held.moved || Math.hypot(dx, dy) > 4) {
          held.moved = true;
          this.pan(-dx, dy);
          [held.x, held.y] = [event.clientX, event.clientY];
        }
        return;
      }
      const over = pane.view.pick(event.clientX, event.clientY);
      if (over !== this.hovered) {
        this.hovered = over;
        this.dirty = true;
        const role = over === null ? "" : ROLE_NAMES[pane.view.roleOf(over)]!;
        pane.tip.textContent = over === null ? "" : `${over}: ${role}`;
      }
    });
    const up = (event: PointerEvent): void => {
      fingers.delete(event.pointerId);
      if (held && !held.moved) {
        this.active = number;
        this.select(pane.view.pick(event.clientX, event.clientY));
      }
      held = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", () => {
      fingers.clear();
      held = null;
    });
    canvas.addEventListener("pointerleave", () => {
      if (this.hovered !== null) this.dirty = true;
      this.hovered = null;
      pane.tip.textContent = "";
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * 0.0015), pane.view.toMap(event.clientX, event.clientY));
      },
      { passive: false },
    );
    canvas.addEventListener("focus", () => {
      this.active = number;
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
      new Plot("Deficit", 3, seek),
      new Plot("Cooperative load (dashed: target)", 2, seek),
      new Plot("Price", 2, seek),
      new Plot("Contributors", 1, seek),
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
    const box = byId("layers");
    box.append(element("h2", "Layers and legend"));
    const layers = element("div", "", { class: "layers" });
    const names: [keyof Layers, string][] = [
      ["coverage", "Coverage M of the host (M)"],
      ["risk", "Risk map (R)"],
      ["tiles", "Tiles (T)"],
      ["misses", "Misses (X)"],
    ];
    for (const [key, name] of names) {
      const label = element("label");
      const check = element("input", "", { type: "checkbox", id: `layer-${key}` });
      check.checked = this.layers[key];
      check.addEventListener("change", () => {
        this.layers[key] = check.checked;
        this.dirty = true;
      });
      label.append(check, ` ${name}`);
      layers.append(label);
    }
    box.append(layers, legend(this.colours));
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
      if (this.time >= this.recording.endS) this.play(false);
      this.dirty = true;
    }
    this.last = now;
    for (const pane of this.panes) if (pane.view.resize()) this.dirty = true;
    const drew = this.dirty;
    if (drew) {
      this.dirty = false;
      this.draw();
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
    const fresh = this.recording.explanation(pane.arm, cycle, host);
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
      pane.counter.replaceChildren(element("strong", m.arms[pane.arm]!.name), element("span", "…"));
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
    pane.counter.replaceChildren(element("strong", m.arms[pane.arm]!.name), now, total);
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
        element("p", "Click a host (◆) to see its last decision, or any vehicle to see what it knows and misses. N goes from host to host."),
      );
      return;
    }
    const arm = r.arm(pane.arm, cycle);
    const pairs = r.pairs(cycle);
    const decided = r.lastDecision(pane.arm, cycle, this.selected);
    const explanation = decided === undefined ? null : r.explanation(pane.arm, decided, this.selected);
    const key = [pane.arm, this.selected, cycle, decided, explanation?.cycle, arm !== undefined, pairs !== undefined].join("/");
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
      };
      const at = r.timeOf(explanation.cycle);
      parts.push(explanation.by === "score" ? decisionPanel(explanation, at, asked) : demandPanel(explanation, at, asked));
    } else if (explanation === undefined) parts.push(element("p", "Loading the decision …"));
    const at = before ? before.ids.indexOf(this.selected) : -1;
    const speed = before && at >= 0 ? before.speed[at]! : null;
    const role = pane.view.roleOf(this.selected);
    parts.push(vehiclePanel(this.selected, role, speed, r.manifest, arm, pairs, (id) => this.select(id)));
    if (r.manifest.arms.length > 1 && this.panes.length > 1) {
      parts.unshift(element("p", `Arm ${r.manifest.arms[pane.arm]!.name} (click in the other map for its side)`));
    }
    why.replaceChildren(...parts);
    const table = why.querySelector(".decision .table");
    if (table) table.scrollTop = scroll;
    if (focus) why.querySelector<HTMLElement>(`tr[data-agent="${focus}"] button`)?.focus({ preventScroll: true });
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
      const c = this.colours;
      const line = (values: (i: number) => ArrayLike<number>): Line[] =>
        this.panes.map((pane, i) => {
          const base = { name: m.arms[pane.arm]!.name, values: values(i), colour: i === 0 ? c.armA : c.armB };
          return i === 0 ? base : { ...base, dash: [5, 3] };
        });
      this.plots[0]!.set(line((i) => smooth(held[i]!.missed, held[i]!.relevant, 2)), null);
      this.plots[1]!.set(line((i) => held[i]!.load), m.target);
      this.plots[2]!.set(line((i) => held[i]!.price), null);
      this.plots[3]!.set(line((i) => held[i]!.contributors), null);
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
        colour: i === 0 ? this.colours.armA : this.colours.armB,
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

  now(): { time: number; cycle: number; playing: boolean; selected: number | null; eye: Eye; arms: number[] } {
    return {
      time: this.time,
      cycle: this.recording.cycleAt(this.time),
      playing: this.playing,
      selected: this.selected,
      eye: { ...this.eye },
      arms: this.panes.map((pane) => pane.arm),
    };
  }
}

/** What each mark means, drawn as the map draws it. */
function legend(c: Colours): HTMLElement {
  const list = element("ul", "", { class: "legend" });
  const texts = ["no radio", "listener", "candidate", "contributor", "host"];
  for (let role = Role.Unequipped; role <= Role.Host; role++) {
    const item = element("li");
    const canvas = element("canvas", "", { "aria-hidden": "true" });
    [canvas.width, canvas.height] = [52, 40];
    const pen = canvas.getContext("2d")!;
    pen.translate(26, 20);
    pen.lineWidth = 3;
    pen.fillStyle = pen.strokeStyle = c.roles[role]!;
    pen.beginPath();
    pen.moveTo(-18, -7);
    pen.lineTo(12, -7);
    pen.lineTo(18, 0);
    pen.lineTo(12, 7);
    pen.lineTo(-18, 7);
    pen.closePath();
    if (role === Role.Unequipped) pen.stroke();
    else pen.fill();
    pen.beginPath();
    if (role === Role.Candidate) pen.arc(0, 0, 14, 0, 2 * Math.PI);
    if (role === Role.Contributor) [[0, -17], [15, 12], [-15, 12]].forEach(([x, y]) => pen.lineTo(x!, y!));
    if (role === Role.Host) [[0, -18], [18, 0], [0, 18], [-18, 0]].forEach(([x, y]) => pen.lineTo(x!, y!));
    if (role === Role.Candidate) pen.stroke();
    else if (role > Role.Candidate) {
      pen.closePath();
      pen.strokeStyle = c.ground;
      pen.fill();
      pen.stroke();
    }
    item.append(canvas, ` ${texts[role]!}`);
    list.append(item);
  }
  list.append(element("li", "✗ over a vehicle: it misses something that matters"));
  return list;
}

function fillHelp(): void {
  const help = byId<HTMLDialogElement>("help");
  const rows: [string, string][] = [
    ["Space", "play, pause"],
    ["← →", "one cycle back, on (with Shift: five; on a focused map: move it)"],
    ["Home End", "first and last moment"],
    ["[ ]", "slower, faster"],
    ["+ − 0", "zoom, everything"],
    ["N P", "next host, host before"],
    ["F", "follow the selected vehicle"],
    ["C", "compare with the next arm, or not"],
    ["M R T X", "coverage, risk, tiles, misses"],
    ["Esc", "select nothing"],
  ];
  help.append(element("h2", "Keys"));
  const table = element("table");
  for (const [keys, text] of rows) {
    const line = element("tr");
    const cell = element("td");
    for (const key of keys.split(" ")) cell.append(element("kbd", key), " ");
    line.append(cell, element("td", text));
    table.append(line);
  }
  const close = element("button", "Close", { type: "button" });
  close.addEventListener("click", () => help.close());
  help.append(table, close);
}

function say(text: string): void {
  byId("status").textContent = text;
}

function fail(text: string): void {
  const box = byId("failure");
  box.textContent = text;
  box.hidden = false;
}

function setTheme(theme: "light" | "dark", keep: boolean): void {
  document.documentElement.dataset["theme"] = theme;
  if (!keep) return;
  try {
    localStorage.setItem("covey-theme", theme);
  } catch {
    // Not kept where the browser forbids it: nothing else depends on it.
  }
}

function firstTheme(): void {
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

declare global {
  interface Window {
    covey?: Page;
  }
}

/** Everything that the first picture needs is asked for at once. */
async function begin(): Promise<void> {
  const place = read(location.search);
  const number = place.recording ?? 0;
  const opening = Recording.open(number, place.time, [place.arm, place.versus]);
  opening.catch(() => {});
  const list = await json<Listed[]>("/api/recordings");
  const page = new Page(list);
  performance.mark("listed");
  page.start(await (number < list.length ? opening : Recording.open(list.length - 1)), place);
  window.covey = page;
  document.documentElement.dataset["ready"] = "true";
}

firstTheme();
begin().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
