// A junction to play with: drag vehicles and buildings, and see under two policies who misses what.

import "./playground.css";
import { byId, say } from "../src/dom";
import { firstTheme, setTheme } from "../src/theme";
import { Drawing, REACH, snapped, under, type ArmAnswer } from "./junction";
import { fromLink, toLink } from "./link";
import { SCENES, type Scene, type Vehicle } from "./scenes";
import { captionOf, element, legend, policies, policyName, selectedPanel, sentences, takesBudget } from "./words";
import type { Question, Reply } from "./worker";

interface Answer {
  arms: ArmAnswer[];
  error: string;
}

type Tool = "move" | "car" | "truck" | "building" | "remove";
type Grip = { kind: "vehicle"; id: number; dx: number; dy: number } | { kind: "building"; at: number; dx: number; dy: number } | { kind: "corner"; at: number; x: number; y: number };

interface Side {
  worker: Worker;
  /** An answer is under way; the scene has changed since it was asked for. */
  busy: boolean;
  wanted: boolean;
  arm: ArmAnswer | undefined;
  error: string;
  /** Milliseconds of the last answer, and how many there were. */
  ms: number;
  answered: number;
  canvas: HTMLCanvasElement;
  caption: HTMLElement;
  list: HTMLElement;
  drawing: Drawing;
}

/** Milliseconds from a change to the address that has it. */
const LINK_MS = 150;

/** Sliders: the element, what a scene without the number has, and how the number is written. */
const SLIDERS = [
  ["budget", 0.2, (x: number) => `${Math.round(100 * x)} %`],
  ["target", 0.3, (x: number) => `${Math.round(100 * x)} %`],
  ["price", 0.5, (x: number) => x.toFixed(1)],
  ["dead", 1, (x: number) => `${x.toFixed(1)} s`],
  ["capacity", 242, (x: number) => `${x} kB/s`],
] as const;

class Playground {
  scene: Scene = structuredClone(SCENES[0]!.scene);
  /** Milliseconds of the last answers, newest last. */
  readonly times: number[] = [];
  /** Milliseconds from the address to the first picture with an answer in it. */
  shownMs: number | null = null;
  private asked = 0;
  /** The simulator has been loaded. */
  private loaded = false;
  private selected: number | null = null;
  private grip: Grip | null = null;
  private tool: Tool = "move";
  private sides: Side[] = [];
  /** The scene is about to be put into the address. */
  private linking: number | null = null;
  private dirty = true;
  /** Misses as they were last told, by side: what is gone since is cured. */
  private toldMisses: { arm: string; pairs: Set<string> }[] = [];

  start(): void {
    this.fillControls();
    for (let i = 0; i < 2; i++) this.addSide();
    load().then(
      (module) => {
        for (const { worker } of this.sides) worker.postMessage({ module } satisfies Question);
        this.loaded = true;
        this.ask();
      },
      (error: unknown) => fail(`The simulator could not be loaded: ${error instanceof Error ? error.message : String(error)}`),
    );
    new ResizeObserver(() => (this.dirty = true)).observe(byId("sides"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    const linked = fromLink(location.hash);
    if (linked) this.open(linked, "");
    else this.openStory(0);
    window.addEventListener("hashchange", () => {
      const scene = fromLink(location.hash);
      if (scene && location.hash !== toLink(this.scene)) this.open(scene, "");
    });
    const frame = (): void => {
      if (this.dirty) {
        this.dirty = false;
        this.draw();
      }
      requestAnimationFrame(frame);
    };
    frame();
  }

  private take(side: Side, reply: Reply): void {
    side.busy = false;
    side.ms = reply.ms;
    side.answered++;
    this.times.push(reply.ms);
    if (this.times.length > 600) this.times.shift();
    const answer = JSON.parse(reply.answer) as Answer;
    side.error = answer.error;
    if (!answer.error) side.arm = answer.arms[0];
    fail(this.sides.map((other) => other.error).find((error) => error !== "") ?? "");
    this.dirty = true;
    this.ask();
    if (!this.answeredAll()) return;
    this.shownMs ??= performance.now();
    byId("time").textContent = `${this.seconds} seconds took ${this.sides.map((other) => other.ms.toFixed(0)).join(" and ")} ms, each policy on a thread of its own`;
    if (document.documentElement.dataset["ready"] !== "true") say("");
    this.tell();
    this.tellCured();
    document.documentElement.dataset["ready"] = "true";
  }

  private ask(): void {
    if (!this.loaded) return;
    this.sides.forEach((side, i) => {
      if (side.busy || !side.wanted) return;
      side.busy = true;
      side.wanted = false;
      const scene = { ...this.scene, arms: [this.scene.arms[i] ?? "cam-only"], seconds: this.seconds };
      side.worker.postMessage({ id: ++this.asked, request: JSON.stringify(scene) } satisfies Question);
    });
  }

  /** What the policies come to, where both are answered. */
  get answer(): Answer {
    return { arms: this.sides.flatMap((side) => side.arm ?? []), error: this.sides.map((side) => side.error).join("") };
  }

  /** How long passes up to the moment: where there are many, a little less, so that answers keep up with the hand. */
  private get seconds(): number {
    return this.scene.seconds ?? (this.scene.vehicles.length > 20 ? 1.6 : 2);
  }

  /** No answer is under way or waiting. */
  answeredAll(): boolean {
    return this.sides.every((side) => !side.busy && !side.wanted);
  }

  /** Neither is the address. */
  settled(): boolean {
    return this.linking === null && this.answeredAll();
  }

  // ---- scenes ----

  private openStory(number: number): void {
    const { scene, story } = SCENES[number]!;
    this.open(structuredClone(scene), story);
    byId("scenes").children[number]?.setAttribute("aria-pressed", "true");
  }

  open(scene: Scene, story: string): void {
    this.scene = scene;
    this.selected = null;
    this.grip = null;
    this.toldMisses = [];
    // What was said of another scene is not true of this one.
    if (document.documentElement.dataset["ready"] === "true") say("");
    for (const button of byId("scenes").children) button.setAttribute("aria-pressed", "false");
    byId("story").textContent = story || "A scene of somebody's own: drag what is there, draw what is missing.";
    const [left, right] = scene.arms.map((arm) => arm.split("@")[0]!);
    byId<HTMLSelectElement>("left").value = left ?? "cam-only";
    byId<HTMLSelectElement>("right").value = right ?? "demand";
    const budget = scene.arms.map((arm) => Number(arm.split("@")[1])).find((x) => x > 0);
    const values = { budget, target: scene.target, price: scene.price_step, dead: scene.dead_s, capacity: scene.capacity_bytes_per_s && scene.capacity_bytes_per_s / 1000 };
    for (const [id, usual] of SLIDERS) byId<HTMLInputElement>(id).value = String(values[id] ?? usual);
    this.change();
  }

  /** Puts the scene into the address, some times a second at most: browsers refuse it to pages that do so in every frame of a long drag. */
  private linkLater(): void {
    this.linking ??= window.setTimeout(() => {
      this.linking = null;
      history.replaceState(null, "", toLink(this.scene));
    }, LINK_MS);
  }

  /** Something is otherwise: the controls are read, and the scene is asked about. */
  change(): void {
    const value = (id: string): number => Number(byId<HTMLInputElement>(id).value);
    this.scene.arms = ["left", "right"].map((id) => {
      const name = byId<HTMLSelectElement>(id).value;
      return takesBudget(name) ? `${name}@${value("budget")}` : name;
    });
    this.scene.target = value("target");
    this.scene.price_step = value("price");
    this.scene.capacity_bytes_per_s = value("capacity") * 1000;
    this.scene.dead_s = value("dead");
    byId("dead").closest("label")!.hidden = !this.scene.vehicles.some((v) => v.radio && v.dies);
    for (const [id, , write] of SLIDERS) byId(`${id}-now`).textContent = write(value(id));
    this.linkLater();
    this.dirty = true;
    for (const side of this.sides) side.wanted = true;
    this.ask();
  }

  private vehicle(id: number | null): Vehicle | undefined {
    return this.scene.vehicles.find((v) => v.id === id);
  }

  // ---- controls ----

  private fillControls(): void {
    SCENES.forEach(({ title }, number) => {
      const button = element("button", title, { type: "button", "aria-pressed": "false" });
      button.addEventListener("click", () => this.openStory(number));
      byId("scenes").append(button);
    });
    const tools: [Tool, string][] = [
      ["move", "Move"],
      ["car", "Draw a car"],
      ["truck", "Draw a truck"],
      ["building", "Draw a building"],
      ["remove", "Remove"],
    ];
    for (const [tool, name] of tools) {
      const button = element("button", name, { type: "button", "data-tool": tool, "aria-pressed": String(tool === this.tool) });
      button.addEventListener("click", () => this.choose(tool));
      byId("tools").append(button);
    }
    for (const id of ["left", "right"]) {
      const select = byId<HTMLSelectElement>(id);
      select.append(...policies().map(([name, text]) => new Option(text, name)));
      select.addEventListener("change", () => this.change());
    }
    for (const [id] of SLIDERS) byId(id).addEventListener("input", () => this.change());
    byId("copy").addEventListener("click", () => {
      navigator.clipboard?.writeText(new URL(toLink(this.scene), location.href).href).then(
        () => say("The link to this scene is copied."),
        () => say("The link to this scene is the page's address."),
      );
    });
    byId("theme").addEventListener("click", () => {
      setTheme(document.documentElement.dataset["theme"] === "dark" ? "light" : "dark", true);
      this.repaint();
    });
    byId("legend").append(...legend());
  }

  private repaint(): void {
    for (const side of this.sides) side.drawing = new Drawing(side.canvas);
    this.dirty = true;
  }

  private choose(tool: Tool): void {
    this.tool = tool;
    for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.getAttribute("data-tool") === tool));
    byId("sides").dataset["tool"] = tool;
  }

  private addSide(): void {
    const box = element("figure");
    const canvas = element("canvas", "", { tabindex: "0", role: "application" });
    const caption = element("figcaption");
    const list = element("ul", "", { class: "misses" });
    box.append(caption, canvas, list);
    byId("sides").append(box);
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const side: Side = { worker, busy: false, wanted: true, arm: undefined, error: "", ms: 0, answered: 0, canvas, caption, list, drawing: new Drawing(canvas) };
    worker.onmessage = (event: MessageEvent<Reply>) => this.take(side, event.data);
    worker.onerror = () => fail("This browser cannot run the simulator: it needs WebAssembly and workers.");
    this.sides.push(side);
    const at = (x: number, y: number): [number, number] => {
      const frame = canvas.getBoundingClientRect();
      const scale = frame.width / (2 * REACH);
      return [(x - frame.left) / scale - REACH, REACH - (y - frame.top) / scale];
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.press(...at(event.clientX, event.clientY));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.grip) this.drag(...at(event.clientX, event.clientY));
    });
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => this.release());
    // A finger on something moves it; elsewhere it moves the page.
    canvas.addEventListener(
      "touchstart",
      (event) => {
        const touch = event.touches[0];
        if (!touch || event.touches.length > 1) return;
        const { vehicle, building } = this.under(...at(touch.clientX, touch.clientY));
        if (this.tool !== "move" || vehicle || building >= 0) event.preventDefault();
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      if (this.key(event.key)) event.preventDefault();
    });
  }

  private under(x: number, y: number): ReturnType<typeof under> {
    // A finger's width, at least.
    const reach = Math.max(4, (16 * 2 * REACH) / Math.max(1, this.sides[0]!.canvas.clientWidth));
    return under(this.scene, x, y, reach);
  }

  private key(key: string): boolean {
    const ways: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const way = ways[key];
    const vehicle = this.vehicle(this.selected);
    if (key === "n" || key === "N") {
      const ids = this.scene.vehicles.map((v) => v.id);
      this.select(ids[(ids.indexOf(this.selected ?? -1) + 1) % Math.max(1, ids.length)] ?? null);
    } else if (key === "Delete" && vehicle) this.removeVehicle(vehicle.id);
    else if (key === "Escape") this.select(null);
    else if (key === "Enter" && (this.tool === "car" || this.tool === "truck")) {
      this.press(-20, 1.5);
      this.release();
    } else if (way && vehicle) {
      Object.assign(vehicle, snapped(vehicle.x + way[0], vehicle.y + way[1]));
      this.change();
    } else return false;
    return true;
  }

  private removeVehicle(id: number): void {
    this.scene.vehicles = this.scene.vehicles.filter((v) => v.id !== id);
    this.select(null);
    this.change();
  }

  private press(x: number, y: number): void {
    const { vehicle: hit, building } = this.under(x, y);
    if (this.tool === "car" || this.tool === "truck") {
      const id = 1 + this.scene.vehicles.reduce((most, v) => Math.max(most, v.id), 0);
      this.scene.vehicles.push({ id, ...snapped(x, y), speed: 8, radio: true, heavy: this.tool === "truck" });
      this.select(id);
      this.grip = { kind: "vehicle", id, dx: 0, dy: 0 };
      this.change();
    } else if (this.tool === "building") {
      this.scene.buildings.push({ x, y, w: 0, h: 0 });
      this.grip = { kind: "corner", at: this.scene.buildings.length - 1, x, y };
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
      else Object.assign(b, { x: Math.min(x, grip.x), y: Math.min(y, grip.y), w: Math.abs(x - grip.x), h: Math.abs(y - grip.y) });
    }
    this.change();
  }

  private release(): void {
    const grip = this.grip;
    this.grip = null;
    // A press without a drag draws no building.
    if (grip?.kind !== "corner") return;
    const b = this.scene.buildings[grip.at]!;
    if (b.w < 2 || b.h < 2) this.scene.buildings.splice(grip.at, 1);
    this.change();
  }

  select(id: number | null): void {
    this.selected = id;
    this.dirty = true;
    this.tell();
  }

  // ---- what is shown ----

  /** What is known of the selected vehicle, and what can be done with it. */
  private tell(): void {
    const box = byId("selected");
    // Whoever drags a slider in it keeps it.
    if (box.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && box.dataset["of"] === String(this.selected)) {
      box.querySelector(".known")?.replaceWith(selectedPanel(this.vehicle(this.selected), this.answer.arms, () => this.change()).querySelector(".known")!);
      return;
    }
    box.dataset["of"] = String(this.selected);
    box.replaceChildren(selectedPanel(this.vehicle(this.selected), this.answer.arms, () => this.change()));
  }

  /** Says what is no longer missed, or missed now, since the last time that it was said. */
  private tellCured(): void {
    const arms = this.answer.arms;
    const now = arms.map((arm) => ({ arm: arm.name.split("@")[0]!, pairs: new Set(arm.missed.map((m) => `${m.vehicle} ${m.object}`)) }));
    const told = arms.map((arm) => new Set(arm.told.map((t) => `${t.vehicle} ${t.object}`)));
    const words: string[] = [];
    now.forEach(({ arm, pairs }, i) => {
      const before = this.toldMisses[i];
      if (before?.arm !== arm) return;
      const name = policyName(arm).toLowerCase();
      for (const pair of before.pairs) {
        if (pairs.has(pair)) continue;
        const [vehicle, object] = pair.split(" ");
        // It may see for itself now, or what it missed may be gone.
        words.push(told[i]!.has(pair) ? `Cured with ${name}: ${vehicle} knows of ${object}.` : `With ${name} ${vehicle} no longer misses ${object}.`);
      }
      for (const pair of pairs) if (!before.pairs.has(pair)) words.push(`Missed with ${name}: ${pair.split(" ")[0]} does not know of ${pair.split(" ")[1]}.`);
    });
    this.toldMisses = now;
    if (words.length > 0) say(words.slice(0, 3).join(" ") + (words.length > 3 ? ` And ${words.length - 3} more.` : ""));
  }

  private draw(): void {
    this.sides.forEach((side, i) => {
      // An answer to a scene with other policies is not this one's.
      const name = this.scene.arms[i] ?? "";
      const { arm } = side;
      const own = arm && arm.name.split("@")[0] === name.split("@")[0] ? arm : undefined;
      side.drawing.draw(this.scene, own, this.selected);
      captionOf(side.caption, name, own);
      const lines = own ? sentences(own) : [];
      if (side.list.dataset["told"] !== lines.join("\n")) {
        side.list.dataset["told"] = lines.join("\n");
        side.list.replaceChildren(...lines.map((line) => element("li", line)));
      }
      side.canvas.setAttribute("aria-label", `The junction with ${side.caption.textContent}. N selects the next vehicle, arrows move it, Delete removes it.`);
      side.canvas.dataset["missed"] = String(own?.missed.length ?? "");
    });
  }
}

/** Compiled once for both workers, while it arrives where the host says what it is. */
async function load(): Promise<WebAssembly.Module> {
  const answer = await fetch(new URL("playground.wasm", document.baseURI));
  if (!answer.ok) throw new Error(`playground.wasm: ${answer.status}`);
  if (answer.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(answer);
  return WebAssembly.compile(await answer.arrayBuffer());
}

function fail(text: string): void {
  const box = byId("failure");
  box.textContent = text;
  box.hidden = text === "";
}

declare global {
  interface Window {
    playground?: Playground;
  }
}

firstTheme();
const page = new Playground();
window.playground = page;
page.start();
