// The junction as it is drawn, and where things are on it.

import type { Building, Scene, Vehicle } from "./scenes";

export interface Missed {
  vehicle: number;
  object: number;
  hidden: "visible" | "building" | "vehicle" | "range";
  seen_by: number[];
}

export interface ArmAnswer {
  name: string;
  paint: string;
  relevant: number;
  missed: Missed[];
  told: { vehicle: number; object: number; by: number | null }[];
  hosts: number[];
  speakers: number[];
  load: number;
  price: number;
}

/** Half of what is shown, in metres. */
export const REACH = 75;

/** Lanes of the bundled junction as vehicles meet them: direction, and the line that fronts keep to. Traffic keeps to the left. */
const LANES: { dx: number; dy: number; fixed: "x" | "y"; at: number }[] = [
  { dx: 1, dy: 0, fixed: "y", at: 1.5 },
  { dx: -1, dy: 0, fixed: "y", at: -1.5 },
  { dx: 0, dy: 1, fixed: "x", at: -1.5 },
  { dx: 0, dy: -1, fixed: "x", at: 1.5 },
];

type Lane = (typeof LANES)[number];

/** The lane that a place belongs to: the nearest. */
export function laneOf(x: number, y: number): Lane {
  const far = (lane: Lane): number => Math.abs((lane.fixed === "x" ? x : y) - lane.at);
  return LANES.reduce((best, lane) => (far(lane) < far(best) ? lane : best));
}

/** The place on a lane that is nearest to a place. */
export function snapped(x: number, y: number): { x: number; y: number } {
  const lane = laneOf(x, y);
  const clamp = (v: number): number => Math.max(-190, Math.min(190, v));
  return lane.fixed === "x" ? { x: lane.at, y: clamp(y) } : { x: clamp(x), y: lane.at };
}

/** As drawn: cars are shown half as large again as they are, so that they can be seen and held. */
const lengthOf = (v: Vehicle): number => (v.heavy ? 12 : 6.4);

/** The middle of a vehicle. */
export function middle(v: Vehicle): [number, number] {
  const lane = laneOf(v.x, v.y);
  const half = lengthOf(v) / 2;
  return [v.x - lane.dx * half, v.y - lane.dy * half];
}

/** The vehicle at a place, and the building under it. */
export function under(scene: Scene, x: number, y: number, reach: number): { vehicle: Vehicle | null; building: number } {
  const far = (v: Vehicle): number => {
    const [mx, my] = middle(v);
    return Math.max(0, Math.hypot(mx - x, my - y) - lengthOf(v) / 4);
  };
  const near = scene.vehicles.map((v) => ({ v, d: far(v) })).sort((a, b) => a.d - b.d)[0];
  const inside = (b: Building): boolean => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h;
  return { vehicle: near && near.d < reach ? near.v : null, building: scene.buildings.findLastIndex(inside) };
}

type Spot = [number, number];

/** Draws one side. */
export class Drawing {
  private readonly pen: CanvasRenderingContext2D;
  private readonly colour: (of: string) => string;
  private scale = 1;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.pen = canvas.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    this.colour = (of) => style.getPropertyValue(`--${of}`).trim();
  }

  draw(scene: Scene, arm: ArmAnswer | undefined, selected: number | null): void {
    const { canvas, pen } = this;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const size = Math.round(canvas.clientWidth * ratio);
    if (size < 2) return;
    if (canvas.width !== size || canvas.height !== size) [canvas.width, canvas.height] = [size, size];
    this.scale = size / (2 * REACH);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = this.colour("ground");
    pen.fillRect(0, 0, size, size);
    pen.setTransform(this.scale, 0, 0, -this.scale, size / 2, size / 2);
    this.roads();
    this.buildings(scene);
    const places = new Map(scene.vehicles.map((v): [number, Spot] => [v.id, middle(v)]));
    for (const { vehicle, object } of arm?.told ?? []) this.line(places.get(object), places.get(vehicle), "seen", 0.5);
    for (const m of arm?.missed ?? []) {
      this.line(places.get(m.vehicle), places.get(m.object), "miss", 0.6, [2.2, 1.6]);
      if (m.vehicle === selected) for (const id of m.seen_by) this.line(places.get(id), places.get(m.object), "contributor", 0.6, [0.6, 1.2]);
    }
    for (const v of scene.vehicles) this.vehicle(v, arm, v.id === selected);
    const blind = new Set(arm?.missed.map((m) => m.vehicle));
    for (const v of scene.vehicles) {
      if (blind.has(v.id)) this.cross(middle(v));
      this.number(v);
    }
  }

  private roads(): void {
    const { pen } = this;
    pen.fillStyle = this.colour("road");
    pen.fillRect(-REACH, -3, 2 * REACH, 6);
    pen.fillRect(-3, -REACH, 6, 2 * REACH);
    pen.strokeStyle = this.colour("lane");
    pen.lineWidth = 0.3;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    for (const [from, to] of [[-REACH, -7], [7, REACH]] as const) {
      pen.moveTo(from, 0);
      pen.lineTo(to, 0);
      pen.moveTo(0, from);
      pen.lineTo(0, to);
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  private buildings(scene: Scene): void {
    const { pen } = this;
    pen.fillStyle = this.colour("building");
    pen.strokeStyle = this.colour("building-line");
    pen.lineWidth = 0.4;
    for (const b of scene.buildings) {
      pen.fillRect(b.x, b.y, b.w, b.h);
      pen.strokeRect(b.x, b.y, b.w, b.h);
    }
  }

  private line(from: Spot | undefined, to: Spot | undefined, colour: string, width: number, dash: number[] = []): void {
    if (!from || !to) return;
    const { pen } = this;
    pen.strokeStyle = this.colour(colour);
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(...to);
    pen.stroke();
    pen.setLineDash([]);
  }

  private vehicle(v: Vehicle, arm: ArmAnswer | undefined, selected: boolean): void {
    const { pen } = this;
    const lane = laneOf(v.x, v.y);
    const [length, width] = v.heavy ? [12, 3] : [6.4, 2.8];
    const alive = v.radio && !v.dies;
    const role = !alive ? "unequipped" : arm?.hosts.includes(v.id) ? "host" : arm?.speakers.includes(v.id) ? "contributor" : "listener";
    pen.save();
    pen.translate(v.x, v.y);
    pen.rotate(Math.atan2(lane.dy, lane.dx));
    pen.beginPath();
    pen.moveTo(0, 0);
    pen.lineTo(-1.6, width / 2);
    pen.lineTo(-length, width / 2);
    pen.lineTo(-length, -width / 2);
    pen.lineTo(-1.6, -width / 2);
    pen.closePath();
    pen.lineWidth = 0.5;
    pen.strokeStyle = this.colour(role);
    pen.fillStyle = alive ? this.colour(role) : this.colour("panel");
    pen.fill();
    pen.stroke();
    pen.translate(-length / 2, 0);
    if (v.radio && v.dies) {
      pen.beginPath();
      pen.moveTo(-length / 2, -width / 2);
      pen.lineTo(length / 2, width / 2);
      pen.stroke();
    }
    // A host is a diamond, whoever speaks a triangle: nothing is told by colour alone.
    const mark: Spot[] = role === "host" ? [[3.4, 0], [0, 3.4], [-3.4, 0], [0, -3.4]] : role === "contributor" ? [[3.4, 0], [-2, 2.8], [-2, -2.8]] : [];
    if (mark.length > 0) {
      pen.beginPath();
      for (const spot of mark) pen.lineTo(...spot);
      pen.closePath();
      pen.fillStyle = this.colour(role);
      pen.strokeStyle = this.colour("halo");
      pen.lineWidth = 0.35;
      pen.fill();
      pen.stroke();
    }
    if (selected) {
      pen.strokeStyle = this.colour("select");
      pen.lineWidth = 0.5;
      pen.beginPath();
      pen.arc(0, 0, length / 2 + 2.2, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.restore();
  }

  /** The mark of somebody who misses something. */
  private cross([x, y]: Spot): void {
    const { pen } = this;
    for (const [stroke, wide] of [["halo", 2.2], ["miss", 1.1]] as const) {
      pen.strokeStyle = this.colour(stroke);
      pen.lineWidth = wide;
      pen.lineCap = "round";
      pen.beginPath();
      for (const way of [-1, 1]) {
        pen.moveTo(x - 2.8, y - 2.8 * way);
        pen.lineTo(x + 2.8, y + 2.8 * way);
      }
      pen.stroke();
      pen.lineCap = "butt";
    }
  }

  /** A vehicle's number, beside it on the outer side of its lane. */
  private number(v: Vehicle): void {
    const { pen, scale } = this;
    const lane = laneOf(v.x, v.y);
    const [x, y] = middle(v);
    // To the left of the way, where the kerb is.
    const [ox, oy] = [x - lane.dy * 5.2, y + lane.dx * 5.2];
    pen.save();
    pen.setTransform(1, 0, 0, 1, this.canvas.width / 2 + ox * scale, this.canvas.height / 2 - oy * scale);
    pen.font = `600 ${Math.max(11, Math.round(2.9 * scale))}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.strokeStyle = this.colour("halo");
    pen.strokeText(String(v.id), 0, 0);
    pen.fillStyle = this.colour("text");
    pen.fillText(String(v.id), 0, 0);
    pen.restore();
  }
}
