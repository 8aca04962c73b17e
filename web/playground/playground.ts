// A junction to play with: drag vehicles and buildings, and see under two policies who misses what.

import "./playground.css";
import { SCENES, type Scene, type Vehicle } from "./scenes";

interface Missed {
  vehicle: number;
  object: number;
  seen_by: number[];
}
interface ArmAnswer {
  name: string;
  relevant: number;
  missed: Missed[];
  hosts: number[];
  speakers: number[];
  load: number;
  price: number;
}
interface Answer {
  arms: ArmAnswer[];
  error: string;
}

const POLICIES: [string, string, boolean][] = [
  ["cam-only", "beacons alone", false],
  ["cpm-etsi", "everyone reports", false],
  ["cpm-rmr", "reports without repeats", false],
  ["random", "a random choice of hosts", true],
  ["proposed", "the letter's selection", true],
  ["demand", "choice by demand", true],
  ["oracle", "oracle: everyone knows what anyone sees", false],
];
const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

function element<K extends keyof HTMLElementTagNameMap>(tag: K, text = "", attributes: Record<string, string> = {}): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Half of what is shown, in metres. */
const REACH = 75;
/** Lanes of the junction as vehicles meet them: direction, and the line that fronts keep to. */
const LANES: { dx: number; dy: number; fixed: "x" | "y"; at: number }[] = [
  { dx: 1, dy: 0, fixed: "y", at: 1.5 },
  { dx: -1, dy: 0, fixed: "y", at: -1.5 },
  { dx: 0, dy: 1, fixed: "x", at: -1.5 },
  { dx: 0, dy: -1, fixed: "x", at: 1.5 },
];

/** The lane that a place belongs to: the nearest. */
function laneOf(x: number, y: number): (typeof LANES)[number] {
  const far = (lane: (typeof LANES)[number]): number => Math.abs((lane.fixed === "x" ? x : y) - lane.at);
  return LANES.reduce((best, lane) => (far(lane) < far(best) ? lane : best));
}

function snapped(x: number, y: number): { x: number; y: number } {
  const lane = laneOf(x, y);
  const clamp = (v: number): number => Math.max(-190, Math.min(190, v));
  return lane.fixed === "x" ? { x: lane.at, y: clamp(y) } : { x: clamp(x), y: lane.at };
}

type Grip = { kind: "vehicle"; id: number; dx: number; dy: number } | { kind: "building"; at: number; dx: number; dy: number } | { kind: "corner"; at: number };

class Playground {
  scene: Scene = structuredClone(SCENES[0]!.scene);
  answer: Answer | null = null;
  /** Milliseconds of the last answers, newest last. */
  readonly times: number[] = [];
  answered = 0;
  shownMs: number | null = null;
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private asked = 0;
  private busy = false;
  private wanted = true;
  private selected: number | null = null;
  private grip: Grip | null = null;
  private tool: "move" | "car" | "truck" | "building" | "remove" = "move";
  private readonly sides: { canvas: HTMLCanvasElement; head: HTMLElement }[] = [];

  start(): void {
    this.worker.onmessage = (event: MessageEvent<{ id: number; answer: string; ms: number }>) => {
      this.busy = false;
      this.answered = event.data.id;
      this.times.push(event.data.ms);
      if (this.times.length > 300) this.times.shift();
      this.answer = JSON.parse(event.data.answer) as Answer;
      byId("status").textContent = this.answer.error || `Three seconds of traffic under two policies, computed in ${event.data.ms.toFixed(0)} ms by the simulator itself, here in this page.`;
      this.shownMs ??= performance.now();
      document.documentElement.dataset["ready"] = "true";
      this.draw();
      this.tell();
      this.ask();
    };
    for (const scene of SCENES) {
      const button = element("button", scene.title, { type: "button" });
      button.addEventListener("click", () => this.open(structuredClone(scene.scene), scene.story));
      byId("scenes").append(button);
    }
    const tools: [Playground["tool"], string][] = [
      ["move", "Move"],
      ["car", "+ car"],
      ["truck", "+ truck"],
      ["building", "+ building"],
      ["remove", "Remove"],
    ];
    for (const [tool, name] of tools) {
      const button = element("button", name, { type: "button", "data-tool": tool, "aria-pressed": String(tool === this.tool) });
      button.addEventListener("click", () => {
        this.tool = tool;
        for (const other of document.querySelectorAll("[data-tool]")) other.setAttribute("aria-pressed", String(other === button));
      });
      byId("tools").append(button);
    }
    for (const id of ["left", "right"]) {
      const select = byId<HTMLSelectElement>(id);
      select.append(...POLICIES.map(([name, text]) => new Option(`${name}: ${text}`, name)));
      select.addEventListener("change", () => this.change());
    }
    for (const id of ["allowance", "target", "capacity"]) byId(id).addEventListener("input", () => this.change());
    for (let i = 0; i < 2; i++) this.addSide();
    new ResizeObserver(() => this.draw()).observe(byId("sides"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    const linked = fromLink(location.hash);
    this.open(linked ?? structuredClone(SCENES[0]!.scene), linked ? "" : SCENES[0]!.story);
    window.addEventListener("hashchange", () => {
      const scene = fromLink(location.hash);
      if (scene && location.hash !== toLink(this.scene)) this.open(scene, "");
    });
  }

  open(scene: Scene, story: string): void {
    this.scene = scene;
    this.selected = null;
    byId("story").textContent = story;
    const [left, right] = scene.arms.map((arm) => arm.split("@")[0]!);
    byId<HTMLSelectElement>("left").value = left ?? "cam-only";
    byId<HTMLSelectElement>("right").value = right ?? "demand";
    const b = scene.arms.map((arm) => Number(arm.split("@")[1])).find((x) => x > 0) ?? 0.2;
    byId<HTMLInputElement>("allowance").value = String(b);
    byId<HTMLInputElement>("target").value = String(scene.target ?? 0.3);
    byId<HTMLInputElement>("capacity").value = String((scene.capacity_bytes_per_s ?? 242_000) / 1000);
    this.change();
  }

  /** Something is otherwise: the controls are read, and the scene is asked about. */
  change(): void {
    const value = (id: string): number => Number(byId<HTMLInputElement>(id).value);
    const b = value("allowance");
    this.scene.arms = ["left", "right"].map((id) => {
      const name = byId<HTMLSelectElement>(id).value;
      return POLICIES.find(([policy]) => policy === name)?.[2] ? `${name}@${b}` : name;
    });
    this.scene.target = value("target");
    this.scene.capacity_bytes_per_s = value("capacity") * 1000;
    byId("allowance-now").textContent = b.toFixed(2);
    byId("target-now").textContent = this.scene.target.toFixed(2);
    byId("capacity-now").textContent = String(value("capacity"));
    const link = toLink(this.scene);
    byId<HTMLAnchorElement>("link").href = link;
    history.replaceState(null, "", link);
    this.draw();
    this.wanted = true;
    this.ask();
  }

  private ask(): void {
    if (this.busy || !this.wanted) return;
    this.busy = true;
    this.wanted = false;
    this.worker.postMessage({ id: ++this.asked, request: JSON.stringify(this.scene) });
  }

  /** Nothing is under way or waiting. */
  settled(): boolean {
    return !this.busy && !this.wanted;
  }

  private addSide(): void {
    const box = element("figure");
    const canvas = element("canvas", "", { tabindex: "0", role: "application" });
    const head = element("figcaption");
    box.append(head, canvas);
    byId("sides").append(box);
    this.sides.push({ canvas, head });
    const at = (event: PointerEvent): [number, number] => {
      const frame = canvas.getBoundingClientRect();
      const scale = frame.width / (2 * REACH);
      return [(event.clientX - frame.left) / scale - REACH, REACH - (event.clientY - frame.top) / scale];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.press(...at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.grip) this.drag(...at(event));
    });
    const end = (): void => {
      this.grip = null;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("keydown", (event) => {
      const ways: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const way = ways[event.key];
      const vehicle = this.vehicle(this.selected);
      if (event.key === "n") this.select(this.next());
      else if (event.key === "Delete" && vehicle) this.removeVehicle(vehicle.id);
      else if (way && vehicle) {
        Object.assign(vehicle, snapped(vehicle.x + way[0], vehicle.y + way[1]));
        this.change();
      } else return;
      event.preventDefault();
    });
  }

  private next(): number | null {
    const ids = this.scene.vehicles.map((v) => v.id);
    const at = this.selected === null ? -1 : ids.indexOf(this.selected);
    return ids[(at + 1) % Math.max(1, ids.length)] ?? null;
  }

  private vehicle(id: number | null): Vehicle | undefined {
    return this.scene.vehicles.find((v) => v.id === id);
  }

  private removeVehicle(id: number): void {
    this.scene.vehicles = this.scene.vehicles.filter((v) => v.id !== id);
    this.selected = null;
    this.change();
  }

  private press(x: number, y: number): void {
    const near = this.scene.vehicles.map((v) => ({ v, d: Math.hypot(v.x - x, v.y - y) })).sort((a, b) => a.d - b.d)[0];
    const hit = near && near.d < 7 ? near.v : null;
    const building = this.scene.buildings.findLastIndex((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h);
    if (this.tool === "car" || this.tool === "truck") {
      const id = 1 + this.scene.vehicles.reduce((most, v) => Math.max(most, v.id), 0);
      this.scene.vehicles.push({ id, ...snapped(x, y), speed: 8, radio: true, heavy: this.tool === "truck" });
      this.select(id);
      this.grip = { kind: "vehicle", id, dx: 0, dy: 0 };
      this.change();
    } else if (this.tool === "building") {
      this.scene.buildings.push({ x, y, w: 1, h: 1 });
      this.grip = { kind: "corner", at: this.scene.buildings.length - 1 };
    } else if (this.tool === "remove") {
      if (hit) this.removeVehicle(hit.id);
      else if (building >= 0) {
        this.scene.buildings.splice(building, 1);
        this.change();
      }
    } else if (hit) {
      this.select(hit.id);
      this.grip = { kind: "vehicle", id: hit.id, dx: hit.x - x, dy: hit.y - y };
    } else if (building >= 0) {
      const b = this.scene.buildings[building]!;
      this.grip = { kind: "building", at: building, dx: b.x - x, dy: b.y - y };
    } else this.select(null);
  }

  private drag(x: number, y: number): void {
    const grip = this.grip!;
    if (grip.kind === "vehicle") {
      const vehicle = this.vehicle(grip.id);
      if (vehicle) Object.assign(vehicle, snapped(x + grip.dx, y + grip.dy));
    } else {
      const b = this.scene.buildings[grip.at]!;
      if (grip.kind === "building") Object.assign(b, { x: x + grip.dx, y: y + grip.dy });
      else Object.assign(b, { w: Math.max(1, x - b.x), h: Math.max(1, y - b.y) });
    }
    this.change();
  }

  select(id: number | null): void {
    this.selected = id;
    this.draw();
    this.tell();
  }

  /** What is known of the selected vehicle, and what can be done with it. */
  private tell(): void {
    const box = byId("selected");
    const vehicle = this.vehicle(this.selected);
    if (!vehicle) {
      box.replaceChildren(element("p", "Select a vehicle to see what it misses and who could have told; N goes from one to the next, arrows move it."));
      return;
    }
    const parts: HTMLElement[] = [element("h2", `Vehicle ${vehicle.id}`)];
    const toggles: ["radio" | "dies" | "heavy", string][] = [
      ["radio", "has a radio"],
      ["dies", "its radio dies a second before"],
      ["heavy", "is a truck"],
    ];
    for (const [key, text] of toggles) {
      const label = element("label");
      const check = element("input", "", { type: "checkbox" });
      check.checked = vehicle[key] ?? false;
      check.addEventListener("change", () => {
        vehicle[key] = check.checked;
        this.change();
      });
      label.append(check, ` ${text}`);
      parts.push(label);
    }
    const speed = element("label", `speed ${vehicle.speed} m/s `);
    const slider = element("input", "", { type: "range", min: "0", max: "15", step: "0.5" });
    slider.value = String(vehicle.speed);
    slider.addEventListener("change", () => {
      vehicle.speed = Number(slider.value);
      this.change();
    });
    speed.append(slider);
    parts.push(speed);
    for (const arm of this.answer?.arms ?? []) {
      const own = arm.missed.filter((m) => m.vehicle === vehicle.id);
      const told = own.map((m) => `misses ${m.object}, which ${m.seen_by.length > 0 ? `${m.seen_by.join(", ")} had seen` : "nobody with a radio had seen"}`);
      parts.push(element("p", `${arm.name}: ${told.join("; ") || "misses nothing"}.`));
    }
    box.replaceChildren(...parts);
  }

  // ---- drawing ----

  draw(): void {
    this.sides.forEach((side, i) => this.drawSide(side, this.answer?.arms[i], this.scene.arms[i] ?? ""));
  }

  private drawSide(side: { canvas: HTMLCanvasElement; head: HTMLElement }, arm: ArmAnswer | undefined, name: string): void {
    const { canvas, head } = side;
    const style = getComputedStyle(document.documentElement);
    const colour = (of: string): string => style.getPropertyValue(`--${of}`).trim();
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const size = Math.round(canvas.clientWidth * ratio);
    if (size < 2) return;
    if (canvas.width !== size || canvas.height !== size) [canvas.width, canvas.height] = [size, size];
    const scale = size / (2 * REACH);
    const pen = canvas.getContext("2d")!;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = colour("ground");
    pen.fillRect(0, 0, size, size);
    pen.setTransform(scale, 0, 0, -scale, size / 2, size / 2);
    pen.fillStyle = colour("road");
    pen.fillRect(-REACH, -3, 2 * REACH, 6);
    pen.fillRect(-3, -REACH, 6, 2 * REACH);
    pen.fillStyle = colour("building");
    pen.strokeStyle = colour("building-line");
    pen.lineWidth = 0.4;
    for (const b of this.scene.buildings) {
      pen.fillRect(b.x, b.y, b.w, b.h);
      pen.strokeRect(b.x, b.y, b.w, b.h);
    }
    const place = (id: number): [number, number] | null => {
      const v = this.vehicle(id);
      if (!v) return null;
      const lane = laneOf(v.x, v.y);
      const half = (v.heavy ? 13 : 5) / 2;
      return [v.x - lane.dx * half, v.y - lane.dy * half];
    };
    const line = (from: [number, number] | null, to: [number, number] | null, stroke: string, dash: number[]): void => {
      if (!from || !to) return;
      pen.strokeStyle = stroke;
      pen.lineWidth = 0.5;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(...from);
      pen.lineTo(...to);
      pen.stroke();
      pen.setLineDash([]);
    };
    for (const m of arm?.missed ?? []) {
      line(place(m.vehicle), place(m.object), colour("miss"), [2, 1.5]);
      if (m.vehicle === this.selected) for (const id of m.seen_by) line(place(id), place(m.object), colour("seen"), []);
    }
    for (const v of this.scene.vehicles) this.drawVehicle(pen, v, arm, colour);
    const text = arm ? `${arm.name}: ${arm.missed.length} of ${arm.relevant} missed, load ${arm.load.toFixed(2)}${arm.hosts.length > 0 ? `, host ${arm.hosts.join(", ")}, ${arm.speakers.length} speak` : ""}` : name;
    if (head.textContent !== text) head.textContent = text;
    canvas.setAttribute("aria-label", `The junction under ${text}. Arrows move the selected vehicle, N selects the next, Delete removes it.`);
    canvas.dataset["missed"] = String(arm?.missed.length ?? "");
  }

  private drawVehicle(pen: CanvasRenderingContext2D, v: Vehicle, arm: ArmAnswer | undefined, colour: (of: string) => string): void {
    const lane = laneOf(v.x, v.y);
    const [length, width] = v.heavy ? [13, 2.6] : [5, 2];
    pen.save();
    pen.translate(v.x, v.y);
    pen.rotate(Math.atan2(lane.dy, lane.dx));
    pen.beginPath();
    pen.moveTo(0, 0);
    pen.lineTo(-1.2, width / 2);
    pen.lineTo(-length, width / 2);
    pen.lineTo(-length, -width / 2);
    pen.lineTo(-1.2, -width / 2);
    pen.closePath();
    pen.lineWidth = 0.5;
    pen.strokeStyle = pen.fillStyle = colour(v.radio && !v.dies ? "listener" : "unequipped");
    if (v.radio) pen.fill();
    pen.stroke();
    pen.translate(-length / 2, 0);
    if (arm?.hosts.includes(v.id)) {
      pen.fillStyle = colour("host");
      pen.beginPath();
      for (const [x, y] of [[2.6, 0], [0, 2.6], [-2.6, 0], [0, -2.6]] as const) pen.lineTo(x, y);
      pen.fill();
    } else if (arm?.speakers.includes(v.id)) {
      pen.fillStyle = colour("contributor");
      pen.beginPath();
      for (const [x, y] of [[2.4, 0], [-1.4, 2], [-1.4, -2]] as const) pen.lineTo(x, y);
      pen.fill();
    }
    if (v.id === this.selected) {
      pen.strokeStyle = colour("select");
      pen.beginPath();
      pen.arc(0, 0, 5, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.restore();
    if (arm?.missed.some((m) => m.vehicle === v.id)) {
      for (const [stroke, wide] of [[colour("halo"), 1.8], [colour("miss"), 0.9]] as const) {
        pen.strokeStyle = stroke;
        pen.lineWidth = wide;
        pen.beginPath();
        pen.moveTo(v.x - 2, v.y + 5);
        pen.lineTo(v.x + 2, v.y + 2);
        pen.moveTo(v.x + 2, v.y + 5);
        pen.lineTo(v.x - 2, v.y + 2);
        pen.stroke();
      }
    }
  }
}

/** The scene as a part of the address. */
function toLink(scene: Scene): string {
  const short = (x: number): number => Math.round(x * 10) / 10;
  const v = scene.vehicles.map((v) => [v.id, short(v.x), short(v.y), v.speed, (v.radio ? 1 : 0) + (v.heavy ? 2 : 0) + (v.dies ? 4 : 0)]);
  const b = scene.buildings.map((b) => [short(b.x), short(b.y), short(b.w), short(b.h)]);
  return `#${encodeURIComponent(JSON.stringify([v, b, scene.arms, scene.target, scene.capacity_bytes_per_s]))}`;
}

function fromLink(hash: string): Scene | null {
  try {
    const [v, b, arms, target, capacity_bytes_per_s] = JSON.parse(decodeURIComponent(hash.slice(1))) as [number[][], number[][], string[], number, number];
    return {
      vehicles: v.map(([id, x, y, speed, bits]) => ({ id: id!, x: x!, y: y!, speed: speed!, radio: (bits! & 1) > 0, heavy: (bits! & 2) > 0, dies: (bits! & 4) > 0 })),
      buildings: b.map(([x, y, w, h]) => ({ x: x!, y: y!, w: w!, h: h! })),
      arms: arms.map(String),
      target: Number(target),
      capacity_bytes_per_s: Number(capacity_bytes_per_s),
    };
  } catch {
    return null;
  }
}

declare global {
  interface Window {
    playground?: Playground;
  }
}

const page = new Playground();
window.playground = page;
page.start();
