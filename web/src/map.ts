// The map: roads and buildings once per view into a layer of their own, everything that moves on top of it each frame.

import type { Colours } from "./colours";
import { Role, type ArmCycle, type DemandExplanation, type Explanation, type Manifest, type Pairs, type PickKind, type Step, type World } from "./data";
import { needed, told } from "./demand";

/** Where the eye is; shared by both maps. */
export interface Eye {
  /** Map coordinates of the middle. */
  x: number;
  y: number;
  /** Pixels a metre. */
  scale: number;
}

/** What a row of an explanation is about: an agent whose cells are shown, a pick, or an object that is needed. */
export interface Pointed {
  kind: "agent" | "object" | PickKind;
  id: number;
}

export interface Layers {
  tiles: boolean;
  coverage: boolean;
  risk: boolean;
  misses: boolean;
}

export interface Scene {
  time: number;
  before: Step | undefined;
  after: Step | undefined;
  /** 0..1 between the two. */
  part: number;
  pairs: Pairs | undefined;
  arm: ArmCycle | undefined;
  /** The step that the arm's roles are of. */
  roleStep: Step | undefined;
  selected: number | null;
  hovered: number | null;
  explanation: Explanation | null | undefined;
  /** The row of the explanation that is pointed at. */
  pointed: Pointed | null;
  /** The missed object that is asked about, and who had seen it. */
  missed: number | null;
  witnesses: number[];
  layers: Layers;
}

/** A mark of an object that somebody needs, as it was drawn; canvas pixels. */
export interface Mark {
  id: number;
  need: number;
  x: number;
  y: number;
  half: number;
}

const MARGIN = 0.5;
/** Milliseconds without a change after which zooming is over. */
const SETTLED_MS = 120;
/** Heat is drawn in this many shades, each in one stroke of the pen. */
const SHADES = 8;

/** Roads, junctions and buildings as paths in map coordinates; the same for all maps of a recording. */
export class Ground {
  readonly roads = new Map<number, Path2D>();
  readonly centre = new Path2D();
  readonly junctions = new Path2D();
  readonly buildings = new Path2D();
  readonly box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };

  constructor(world: World) {
    const trace = (path: Path2D, flat: number[], close: boolean): void => {
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const [x, y] = [flat[i]! / 100, flat[i + 1]! / 100];
        if (i === 0) path.moveTo(x, y);
        else path.lineTo(x, y);
      }
      if (close) path.closePath();
    };
    for (const lane of world.lanes) {
      let road = this.roads.get(lane.w);
      if (!road) this.roads.set(lane.w, (road = new Path2D()));
      trace(road, lane.p, false);
      if (lane.k === "normal") trace(this.centre, lane.p, false);
      for (let i = 0; i + 1 < lane.p.length; i += 2) {
        const [x, y] = [lane.p[i]! / 100, lane.p[i + 1]! / 100];
        this.box.x0 = Math.min(this.box.x0, x);
        this.box.x1 = Math.max(this.box.x1, x);
        this.box.y0 = Math.min(this.box.y0, y);
        this.box.y1 = Math.max(this.box.y1, y);
      }
    }
    for (const junction of world.junctions) trace(this.junctions, junction, true);
    for (const building of world.buildings) trace(this.buildings, building.p, true);
    if (!(this.box.x0 < this.box.x1)) Object.assign(this.box, { x0: 0, y0: 0, x1: 100, y1: 100 });
  }
}

export class MapView {
  readonly canvas: HTMLCanvasElement;
  private readonly pen: CanvasRenderingContext2D;
  private readonly layer = document.createElement("canvas");
  private layerEye: Eye | null = null;
  private layerScale = 1;
  private lastScale = 0;
  private scaledAt = 0;
  private width = 1;
  private height = 1;
  private ratio = 1;
  /** Role by vehicle number, of the cycle in `rolesOf`. */
  private roles = new Uint8Array(0);
  private rolesOf: ArmCycle | undefined;
  private missing = new Uint8Array(0);
  private sizes = { length: new Float32Array(0), width: new Float32Array(0) };
  /** Screen places of what was drawn last, for picking. */
  private readonly drawnIds: number[] = [];
  private readonly drawnX: number[] = [];
  private readonly drawnY: number[] = [];
  /** What somebody needs, as drawn last. */
  readonly needs: Mark[] = [];
  /** The cycle of the choice that they are of. */
  needsOf: number | null = null;
  /** Right and lower edge of what lies over the map's upper left corner, CSS pixels: no text is put under it. */
  covered: [number, number] = [0, 0];
  /** Texts of tiles as drawn last: left, top, right, bottom in canvas pixels. */
  readonly tileTexts: [number, number, number, number][] = [];
  private readonly cos: number;
  private readonly sin: number;

  /** Texts keep clear of a box over the map. Its size is known without a look at the layout in every frame. */
  keepClearOf(box: HTMLElement, changed: () => void): void {
    new ResizeObserver(() => {
      this.covered = [box.offsetLeft + box.offsetWidth, box.offsetTop + box.offsetHeight];
      changed();
    }).observe(box);
  }

  /** Of each text of a tile: it lies under a box over the map. */
  textsUnder(box: HTMLElement): boolean[] {
    const [map, over] = [this.canvas.getBoundingClientRect(), box.getBoundingClientRect()];
    const ratio = this.canvas.width / map.width;
    return this.tileTexts.map(([left, top]) => map.left + left / ratio < over.right && map.top + top / ratio < over.bottom);
  }

  constructor(
    private readonly manifest: Manifest,
    private readonly ground: Ground,
    private readonly eye: Eye,
    label: string,
  ) {
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    this.pen = this.canvas.getContext("2d", { alpha: false })!;
    this.grow();
    const azimuth = (manifest.grid.azimuth_deg * Math.PI) / 180;
    this.cos = Math.cos(azimuth);
    this.sin = Math.sin(azimuth);
  }

  /** There may be more vehicles than before. */
  grow(): void {
    const { vehicles } = this.manifest;
    const last = vehicles.reduce((max, v) => Math.max(max, v.id), -1);
    this.sizes = { length: new Float32Array(last + 1).fill(5), width: new Float32Array(last + 1).fill(2) };
    for (const v of vehicles) {
      this.sizes.length[v.id] = v.length;
      this.sizes.width[v.id] = v.width;
    }
    this.roles = new Uint8Array(last + 1);
    this.missing = new Uint8Array(last + 1);
    this.rolesOf = undefined;
  }

  resize(): boolean {
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [w, h] = [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
    if (w === this.canvas.width && h === this.canvas.height && ratio === this.ratio) return false;
    [this.canvas.width, this.canvas.height, this.ratio] = [w, h, ratio];
    [this.width, this.height] = [w, h];
    this.layerEye = null;
    return true;
  }

  /** The theme changed. */
  repaint(): void {
    this.layerEye = null;
  }

  /** Shows everything. */
  fit(): void {
    const { x0, y0, x1, y1 } = this.ground.box;
    this.eye.x = (x0 + x1) / 2;
    this.eye.y = (y0 + y1) / 2;
    const [w, h] = [this.width / this.ratio, this.height / this.ratio];
    this.eye.scale = Math.max(0.05, Math.min(w / (1.05 * (x1 - x0) + 40), h / (1.05 * (y1 - y0) + 40)));
  }

  toMap(clientX: number, clientY: number): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [
      this.eye.x + (clientX - box.left - box.width / 2) / this.eye.scale,
      this.eye.y - (clientY - box.top - box.height / 2) / this.eye.scale,
    ];
  }

  /** The vehicle under the pointer. Hosts win over others that are about as near. */
  pick(clientX: number, clientY: number): number | null {
    const box = this.canvas.getBoundingClientRect();
    const [px, py] = [(clientX - box.left) * this.ratio, (clientY - box.top) * this.ratio];
    let best: number | null = null;
    let nearest = Math.max(14 * this.ratio, 3 * this.eye.scale * this.ratio);
    for (let i = 0; i < this.drawnIds.length; i++) {
      const id = this.drawnIds[i]!;
      let d = Math.hypot(this.drawnX[i]! - px, this.drawnY[i]! - py);
      if (this.roles[id] === Role.Host) d -= 8 * this.ratio;
      if (d < nearest) [nearest, best] = [d, id];
    }
    return best;
  }

  /** Where a vehicle is on the page; for tests and the keyboard. */
  placeOf(id: number): [number, number] | null {
    const i = this.drawnIds.indexOf(id);
    if (i < 0) return null;
    const box = this.canvas.getBoundingClientRect();
    return [box.left + this.drawnX[i]! / this.ratio, box.top + this.drawnY[i]! / this.ratio];
  }

  roleOf(id: number): Role {
    return this.roles[id] ?? Role.Unequipped;
  }

  private paintGround(c: Colours): void {
    const [w, h] = [Math.ceil(this.width * (1 + MARGIN)), Math.ceil(this.height * (1 + MARGIN))];
    if (this.layer.width !== w || this.layer.height !== h) [this.layer.width, this.layer.height] = [w, h];
    const pen = this.layer.getContext("2d", { alpha: false })!;
    const scale = this.eye.scale * this.ratio;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = c.ground;
    pen.fillRect(0, 0, w, h);
    pen.setTransform(scale, 0, 0, -scale, w / 2 - this.eye.x * scale, h / 2 + this.eye.y * scale);
    pen.fillStyle = c.road;
    pen.fill(this.ground.junctions);
    pen.strokeStyle = c.road;
    pen.lineJoin = "round";
    for (const [cm, road] of this.ground.roads) {
      pen.lineWidth = Math.max(cm / 100, 1 / scale);
      pen.stroke(road);
    }
    if (this.eye.scale > 1.2) {
      pen.strokeStyle = c.lane;
      pen.lineWidth = 0.15;
      pen.setLineDash([3, 5]);
      pen.stroke(this.ground.centre);
      pen.setLineDash([]);
    }
    pen.fillStyle = c.building;
    pen.fill(this.ground.buildings);
    pen.strokeStyle = c.buildingLine;
    pen.lineWidth = 1 / scale;
    pen.stroke(this.ground.buildings);
    this.layerEye = { ...this.eye };
    this.layerScale = scale;
  }

  /** Draws; whether it wants to be called again soon, since the ground is still the old one, stretched. */
  draw(scene: Scene, c: Colours): boolean {
    const pen = this.pen;
    const scale = this.eye.scale * this.ratio;
    const old = this.layerEye;
    const now = performance.now();
    if (this.eye.scale !== this.lastScale) [this.lastScale, this.scaledAt] = [this.eye.scale, now];
    // The ground is painted anew when zooming has come to rest; until then the old picture is stretched.
    const zooming = old !== null && old.scale !== this.eye.scale && now - this.scaledAt < SETTLED_MS;
    const reach = (MARGIN / 2) * 0.98;
    const stale =
      !old ||
      (old.scale !== this.eye.scale && !zooming) ||
      Math.abs(old.x - this.eye.x) * scale > this.width * reach ||
      Math.abs(old.y - this.eye.y) * scale > this.height * reach;
    if (stale) this.paintGround(c);
    const at = this.layerEye!;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    const stretch = scale / this.layerScale;
    if (stretch < 1) {
      pen.fillStyle = c.ground;
      pen.fillRect(0, 0, this.width, this.height);
    }
    const [w, h] = [this.layer.width * stretch, this.layer.height * stretch];
    pen.drawImage(
      this.layer,
      Math.round((this.width - w) / 2 + (at.x - this.eye.x) * scale),
      Math.round((this.height - h) / 2 - (at.y - this.eye.y) * scale),
      w,
      h,
    );
    const ox = this.width / 2 - this.eye.x * scale;
    const oy = this.height / 2 + this.eye.y * scale;
    this.drawGrid(scene, c, scale, ox, oy);
    this.readRoles(scene);
    this.drawVehicles(scene, c, scale, ox, oy);
    this.drawRelations(scene, c);
    return at.scale !== this.eye.scale;
  }

  /** Runs `trace` for a square of the grid in map coordinates. */
  private square(pen: CanvasRenderingContext2D, gx: number, gy: number, side: number, scale: number, ox: number, oy: number): void {
    const { origin_x_m: x0, origin_y_m: y0 } = this.manifest.grid;
    const corner = (x: number, y: number): [number, number] => [
      ox + (x0 + x * this.cos - y * this.sin) * scale,
      oy - (y0 + x * this.sin + y * this.cos) * scale,
    ];
    const [ax, ay] = corner(gx, gy);
    const [bx, by] = corner(gx + side, gy);
    const [cx, cy] = corner(gx + side, gy + side);
    const [dx, dy] = corner(gx, gy + side);
    pen.moveTo(ax, ay);
    pen.lineTo(bx, by);
    pen.lineTo(cx, cy);
    pen.lineTo(dx, dy);
    pen.closePath();
  }

  private heat(cells: Iterable<readonly [number, number, number]>, colour: string, scale: number, ox: number, oy: number): void {
    const pen = this.pen;
    const side = this.manifest.cell_m;
    const shades: [number, number][][] = Array.from({ length: SHADES }, () => []);
    for (const [ix, iy, m] of cells) {
      shades[Math.min(SHADES - 1, Math.max(0, Math.floor(m * SHADES)))]!.push([ix, iy]);
    }
    pen.fillStyle = colour;
    shades.forEach((list, shade) => {
      if (list.length === 0) return;
      pen.globalAlpha = (0.45 * (shade + 1)) / SHADES;
      pen.beginPath();
      for (const [ix, iy] of list) this.square(pen, ix * side, iy * side, side, scale, ox, oy);
      pen.fill();
    });
    pen.globalAlpha = 1;
  }

  private drawGrid(scene: Scene, c: Colours, scale: number, ox: number, oy: number): void {
    const pen = this.pen;
    const explanation = scene.explanation?.by === "score" ? scene.explanation : null;
    if (explanation && scene.layers.coverage) this.heat(explanation.decision.map, c.heat, scale, ox, oy);
    if (explanation && scene.layers.risk) {
      const most = explanation.snapshot.risk.reduce((max, r) => Math.max(max, r[2]), 1e-9);
      this.heat(
        explanation.snapshot.risk.map((r) => [r[0], r[1], r[2] / most] as const),
        c.risk,
        scale,
        ox,
        oy,
      );
    }
    const candidate = explanation?.snapshot.agents.find((agent) => scene.pointed?.kind === "agent" && agent.id === scene.pointed.id);
    if (candidate) {
      const side = this.manifest.cell_m;
      pen.strokeStyle = c.seen;
      pen.lineWidth = 1.5 * this.ratio;
      pen.beginPath();
      for (const [ix, iy] of candidate.cells) this.square(pen, ix * side + 1, iy * side + 1, side - 2, scale, ox, oy);
      pen.stroke();
    }
    this.tileTexts.length = 0;
    if (scene.layers.tiles && scene.arm) {
      const side = this.manifest.tile_m;
      pen.strokeStyle = c.tile;
      pen.lineWidth = this.ratio;
      pen.setLineDash([8 * this.ratio, 5 * this.ratio]);
      pen.beginPath();
      for (const tile of scene.arm.tiles) this.square(pen, tile.tx * side, tile.ty * side, side, scale, ox, oy);
      pen.stroke();
      pen.setLineDash([]);
      pen.fillStyle = c.faint;
      pen.font = `${11 * this.ratio}px system-ui, sans-serif`;
      const { origin_x_m: x0, origin_y_m: y0 } = this.manifest.grid;
      for (const tile of scene.arm.tiles) {
        const [gx, gy] = [(tile.tx + 0.02) * side, (tile.ty + 0.97) * side];
        const x = ox + (x0 + gx * this.cos - gy * this.sin) * scale;
        const y = oy - (y0 + gx * this.sin + gy * this.cos) * scale;
        const text = `tile ${tile.tx}, ${tile.ty}: ${tile.missed} missed of ${tile.relevant}`;
        const wide = pen.measureText(text).width;
        const [room, edge] = [side * scale, 6 * this.ratio];
        if (room < wide + 2 * edge) continue;
        // A tile whose corner is off the screen has its text at the screen's edge, and one whose corner lies under the counter below
        // that, as long as it lies in the tile.
        const high = 11 * this.ratio;
        const [right, bottom] = this.covered.map((edge) => edge * this.ratio) as [number, number];
        const sx = Math.max(x, edge);
        let sy = Math.max(y, high + edge);
        if (sx < right + edge && sy - high < bottom + edge) sy = bottom + edge + high;
        if (sx + wide < x + room && sy < y + room && sx + wide < this.width) {
          pen.fillText(text, sx, sy);
          this.tileTexts.push([sx, sy - high, sx + wide, sy]);
        }
      }
    }
  }

  private readRoles(scene: Scene): void {
    if (scene.arm === this.rolesOf || !scene.arm) return;
    const { arm, roleStep, pairs } = scene;
    if (!roleStep || roleStep.ids.length !== arm.roles.length) return;
    this.rolesOf = arm;
    for (const v of this.manifest.vehicles) this.roles[v.id] = v.equipped ? Role.Listener : Role.Unequipped;
    for (let i = 0; i < roleStep.ids.length; i++) this.roles[roleStep.ids[i]!] = arm.roles[i]!;
    this.missing.fill(0);
    if (!pairs) {
      this.rolesOf = undefined;
      return;
    }
    for (let i = 0; i < arm.known.length; i++) {
      if ((arm.known[i]! & 8) !== 0) this.missing[pairs.vehicle[i]!]!++;
    }
  }

  private drawVehicles(scene: Scene, c: Colours, scale: number, ox: number, oy: number): void {
    const { before, after, part } = scene;
    this.drawnIds.length = 0;
    this.drawnX.length = 0;
    this.drawnY.length = 0;
    if (!before) return;
    const pen = this.pen;
    const boxes: Path2D[] = [];
    const badges: number[][] = [[], [], [], [], []];
    for (let role = 0; role < 5; role++) boxes.push(new Path2D());
    // Far away a vehicle is smaller than a pixel: never draw it smaller than can be seen.
    const least = 3.2 * this.ratio;
    let k = 0;
    for (let i = 0; i < before.ids.length; i++) {
      const id = before.ids[i]!;
      let x = before.x[i]!;
      let y = before.y[i]!;
      let h = before.heading[i]!;
      if (after && part > 0) {
        while (k < after.ids.length && after.ids[k]! < id) k++;
        if (k < after.ids.length && after.ids[k] === id) {
          const [dx, dy] = [after.x[k]! - x, after.y[k]! - y];
          // Who jumps was put elsewhere: do not slide it across the map.
          if (dx * dx + dy * dy < 100) {
            x += part * dx;
            y += part * dy;
            let turn = after.heading[k]! - h;
            if (turn > Math.PI) turn -= 2 * Math.PI;
            else if (turn < -Math.PI) turn += 2 * Math.PI;
            h += part * turn;
          }
        }
      }
      const sx = ox + x * scale;
      const sy = oy - y * scale;
      if (sx < -30 || sy < -30 || sx > this.width + 30 || sy > this.height + 30) continue;
      const role = this.roles[id]!;
      const l = Math.max(this.sizes.length[id]! * scale, least) / 2;
      const w = Math.max(this.sizes.width[id]! * scale, least * 0.7) / 2;
      const [cos, sin] = [Math.cos(h), -Math.sin(h)];
      const [lx, ly, wx, wy] = [l * cos, l * sin, -w * sin, w * cos];
      const box = boxes[role]!;
      // The nose is pointed a little, so that the direction shows.
      box.moveTo(sx - lx - wx, sy - ly - wy);
      box.lineTo(sx + 0.7 * lx - wx, sy + 0.7 * ly - wy);
      box.lineTo(sx + lx, sy + ly);
      box.lineTo(sx + 0.7 * lx + wx, sy + 0.7 * ly + wy);
      box.lineTo(sx - lx + wx, sy - ly + wy);
      box.closePath();
      this.drawnIds.push(id);
      this.drawnX.push(sx);
      this.drawnY.push(sy);
      if (role >= Role.Candidate) badges[role]!.push(sx, sy);
    }
    const line = Math.max(1, 1.1 * this.ratio);
    pen.lineWidth = line;
    // Without radio: hollow. Listener: filled. The others carry a mark of their own.
    pen.strokeStyle = c.roles[Role.Unequipped];
    pen.stroke(boxes[Role.Unequipped]!);
    for (let role = Role.Listener; role <= Role.Host; role++) {
      pen.fillStyle = c.roles[role]!;
      pen.fill(boxes[role]!);
    }
    const r = Math.max(4.2 * this.ratio, Math.min(9 * this.ratio, 1.6 * scale));
    // From far away there are so many candidates that full rings would hide everything else.
    const ring = r * Math.min(0.9, 0.5 + 0.4 * this.eye.scale);
    this.marks(badges[Role.Candidate]!, (p, x, y) => {
      p.moveTo(x + ring, y);
      p.arc(x, y, ring, 0, 2 * Math.PI);
    }, null, c.roles[Role.Candidate], line);
    this.marks(badges[Role.Contributor]!, (p, x, y) => {
      p.moveTo(x, y - r * 1.15);
      p.lineTo(x + r, y + r * 0.75);
      p.lineTo(x - r, y + r * 0.75);
      p.closePath();
    }, c.roles[Role.Contributor], c.ground, line);
    const d = r * 1.5;
    this.marks(badges[Role.Host]!, (p, x, y) => {
      p.moveTo(x, y - d);
      p.lineTo(x + d, y);
      p.lineTo(x, y + d);
      p.lineTo(x - d, y);
      p.closePath();
    }, c.roles[Role.Host], c.ground, 1.5 * line);
    this.marks(badges[Role.Host]!, (p, x, y) => {
      p.moveTo(x + d * 0.3, y);
      p.arc(x, y, d * 0.3, 0, 2 * Math.PI);
    }, c.ground, null, line);
    if (scene.layers.misses) this.drawMisses(c, line);
  }

  private marks(
    flat: number[],
    trace: (path: Path2D, x: number, y: number) => void,
    fill: string | null,
    stroke: string | null,
    width: number,
  ): void {
    if (flat.length === 0) return;
    const path = new Path2D();
    for (let i = 0; i < flat.length; i += 2) trace(path, flat[i]!, flat[i + 1]!);
    if (fill) {
      this.pen.fillStyle = fill;
      this.pen.fill(path);
    }
    if (stroke) {
      this.pen.strokeStyle = stroke;
      this.pen.lineWidth = width;
      this.pen.stroke(path);
    }
  }

  /** A cross over each vehicle that misses something, with a halo: it is told by its shape, not by its colour. */
  private drawMisses(c: Colours, line: number): void {
    const pen = this.pen;
    const reach = Math.max(6 * this.ratio, Math.min(12 * this.ratio, 2 * this.eye.scale * this.ratio));
    const path = new Path2D();
    for (let i = 0; i < this.drawnIds.length; i++) {
      if (!this.missing[this.drawnIds[i]!]) continue;
      const [x, y] = [this.drawnX[i]!, this.drawnY[i]! - reach];
      path.moveTo(x - reach * 0.6, y - reach * 0.6);
      path.lineTo(x + reach * 0.6, y + reach * 0.2);
      path.moveTo(x + reach * 0.6, y - reach * 0.6);
      path.lineTo(x - reach * 0.6, y + reach * 0.2);
    }
    pen.strokeStyle = c.halo;
    pen.lineWidth = 5 * line;
    pen.stroke(path);
    pen.strokeStyle = c.miss;
    pen.lineWidth = 2.2 * line;
    pen.stroke(path);
  }

  private drawRelations(scene: Scene, c: Colours): void {
    const pen = this.pen;
    const { arm, pairs, selected, hovered } = scene;
    const place = new Map<number, number>();
    if (selected !== null || hovered !== null) this.drawnIds.forEach((id, i) => place.set(id, i));
    const to = (id: number): [number, number] | null => {
      const i = place.get(id);
      return i === undefined ? null : [this.drawnX[i]!, this.drawnY[i]!];
    };
    const sender = hovered ?? null;
    if (sender !== null && arm) {
      pen.strokeStyle = c.link;
      pen.lineWidth = this.ratio;
      pen.globalAlpha = 0.55;
      pen.beginPath();
      for (const delivery of arm.deliveries) {
        const from = to(delivery.sender);
        if (!from) continue;
        for (const receiver of delivery.receivers) {
          if (delivery.sender !== sender && receiver !== sender) continue;
          const end = to(receiver);
          if (!end) continue;
          pen.moveTo(from[0], from[1]);
          pen.lineTo(end[0], end[1]);
        }
      }
      pen.stroke();
      pen.globalAlpha = 1;
    }
    this.needs.length = 0;
    this.needsOf = null;
    if (scene.explanation?.by === "demand") this.drawNeeds(scene.explanation, scene.pointed, c, to);
    if (scene.witnesses.length > 0) this.drawWitnesses(scene, c, to);
    if (selected !== null && arm && pairs) {
      const from = to(selected);
      if (from) {
        for (const missed of [false, true]) {
          pen.strokeStyle = missed ? c.miss : c.select;
          pen.lineWidth = (missed ? 2 : 1) * this.ratio;
          pen.setLineDash(missed ? [5 * this.ratio, 4 * this.ratio] : []);
          pen.beginPath();
          for (let i = 0; i < arm.known.length; i++) {
            if (pairs.vehicle[i] !== selected || ((arm.known[i]! & 8) !== 0) !== missed) continue;
            const end = to(pairs.object[i]!);
            if (!end) continue;
            pen.moveTo(from[0], from[1]);
            pen.lineTo(end[0], end[1]);
          }
          pen.stroke();
        }
        pen.setLineDash([]);
      }
    }
    for (const id of [selected, hovered, scene.pointed?.id ?? null]) {
      const spot = id === null ? null : to(id);
      if (!spot) continue;
      pen.strokeStyle = c.select;
      pen.lineWidth = (id === selected ? 2.5 : 1.5) * this.ratio;
      pen.beginPath();
      pen.arc(spot[0], spot[1], Math.max(14 * this.ratio, 4 * this.eye.scale * this.ratio), 0, 2 * Math.PI);
      pen.stroke();
    }
  }
  /** A place in the grid's plane on the canvas. */
  private onCanvas(gx: number, gy: number): [number, number] {
    const scale = this.eye.scale * this.ratio;
    const { origin_x_m: x0, origin_y_m: y0 } = this.manifest.grid;
    const x = x0 + gx * this.cos - gy * this.sin;
    const y = y0 + gx * this.sin + gy * this.cos;
    return [this.width / 2 + (x - this.eye.x) * scale, this.height / 2 - (y - this.eye.y) * scale];
  }

  /** Lines from those who had seen what is asked about to it. */
  private drawWitnesses(scene: Scene, c: Colours, to: (id: number) => [number, number] | null): void {
    const end = scene.missed === null ? null : to(scene.missed);
    if (!end) return;
    const pen = this.pen;
    pen.strokeStyle = c.seen;
    pen.lineWidth = 2 * this.ratio;
    pen.beginPath();
    for (const id of scene.witnesses) {
      const from = to(id);
      if (!from) continue;
      pen.moveTo(from[0], from[1]);
      pen.lineTo(end[0], end[1]);
    }
    pen.stroke();
  }

  /** Objects that matter to somebody near the host, larger for a greater need; for a pick, who tells what to whom. */
  private drawNeeds(e: DemandExplanation, pointed: Pointed | null, c: Colours, vehicle: (id: number) => [number, number] | null): void {
    const pen = this.pen;
    const tracks = new Map((e.tracks ?? []).map((track) => [track.id, track] as const));
    // Objects without a radio are tracks of the host: they stand where it believes them to be.
    const to = (id: number): [number, number] | null => {
      const track = tracks.get(id);
      return vehicle(id) ?? (track ? this.onCanvas(track.x, track.y) : null);
    };
    pen.strokeStyle = c.risk;
    pen.lineWidth = 1.6 * this.ratio;
    pen.beginPath();
    for (const { id, need } of needed(e)) {
      const at = to(id);
      if (!at) continue;
      const half = this.ratio * (4 + 5 * Math.sqrt(Math.min(need, 6)));
      this.needs.push({ id, need, x: at[0], y: at[1], half });
      pen.rect(at[0] - half, at[1] - half, 2 * half, 2 * half);
    }
    pen.stroke();
    this.needsOf = e.cycle;
    this.drawTracks(e, c, vehicle);
    if (!pointed || pointed.kind === "agent") return;
    const objects = new Set(told(e, pointed));
    const speaker = pointed.kind === "report" ? pointed.id : pointed.kind === "repeat" ? e.decision.host : null;
    const from = speaker === null ? null : to(speaker);
    pen.strokeStyle = c.seen;
    pen.lineWidth = 2 * this.ratio;
    pen.beginPath();
    for (const object of objects) {
      const end = to(object);
      if (!from || !end) continue;
      pen.moveTo(from[0], from[1]);
      pen.lineTo(end[0], end[1]);
    }
    pen.stroke();
    pen.strokeStyle = c.risk;
    pen.lineWidth = this.ratio;
    pen.setLineDash([4 * this.ratio, 3 * this.ratio]);
    pen.beginPath();
    for (const [listener, object] of e.snapshot.needs) {
      if (!objects.has(object)) continue;
      // A host's own track has no place here: then from whoever speaks of it.
      const [a, b] = [to(object) ?? from, to(listener)];
      if (!a || !b) continue;
      pen.moveTo(a[0], a[1]);
      pen.lineTo(b[0], b[1]);
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  /** Bodies that the host believes in and that are no vehicles of the list, where they matter. */
  private drawTracks(e: DemandExplanation, c: Colours, vehicle: (id: number) => [number, number] | null): void {
    const pen = this.pen;
    const scale = this.eye.scale * this.ratio;
    const matter = new Set(needed(e).map((o) => o.id));
    const azimuth = Math.atan2(this.sin, this.cos);
    pen.strokeStyle = c.risk;
    pen.lineWidth = 1.2 * this.ratio;
    pen.setLineDash([3 * this.ratio, 2 * this.ratio]);
    for (const track of e.tracks ?? []) {
      if (!matter.has(track.id) || vehicle(track.id)) continue;
      const [x, y] = this.onCanvas(track.x, track.y);
      const turn = track.heading + azimuth;
      const [l, w] = [Math.max(track.length * scale, 4 * this.ratio) / 2, Math.max(track.width * scale, 3 * this.ratio) / 2];
      pen.save();
      pen.translate(x, y);
      pen.rotate(-turn);
      pen.strokeRect(-l, -w, 2 * l, 2 * w);
      pen.restore();
    }
    pen.setLineDash([]);
  }
}
