// Recordings as the server gives them: a manifest, the map, and blocks of two seconds that are fetched when needed.
// The binary layouts are described in crates/simulator/src/recording.

export interface Manifest {
  schema: string;
  scenario: string;
  seed: number;
  arms: { name: string; hosted: boolean; scored: boolean; paint?: string }[];
  step_us: number;
  cycle_us: number;
  decision_us: number;
  grid: { origin_x_m: number; origin_y_m: number; azimuth_deg: number };
  cell_m: number;
  tile_m: number;
  target: number;
  measured_from_us: number;
  program: string;
  revision?: string;
  readings?: Record<string, Record<string, unknown>> | null;
  chunk_cycles: number;
  first_step: number;
  steps: number;
  first_cycle: number;
  cycles: number;
  vehicles: { id: number; length: number; width: number; height: number; kind: string; equipped: boolean }[];
}

export interface Curve {
  relevant: number[];
  missed: number[];
  load: number[];
  busy: number[];
  price: number[];
  contributors: number[];
}

export interface TileCurve extends Curve {
  tile: [number, number];
}

export interface World {
  left_hand: boolean;
  lanes: { w: number; k: string; p: number[] }[];
  junctions: number[][];
  buildings: { h: number; p: number[] }[];
}

export interface Listed {
  name: string;
  scenario: string;
  seed: number;
  arms: string[];
  /** Its run is shown while it computes. */
  live: boolean;
}

/** Vehicles at one step; places are in the order of ascending ids. */
export interface Step {
  step: number;
  ids: Uint32Array;
  x: Float32Array;
  y: Float32Array;
  heading: Float32Array;
  speed: Float32Array;
}

export const enum Role {
  Unequipped,
  Listener,
  Candidate,
  Contributor,
  Host,
}
export const ROLE_NAMES = ["unequipped", "listener", "candidate", "contributor", "host"] as const;

export interface Pairs {
  cycle: number;
  vehicle: Uint32Array;
  object: Uint32Array;
  deadlineMs: Uint32Array;
  /** relation + 4 x sight */
  flags: Uint8Array;
}

export interface TileRow {
  tx: number;
  ty: number;
  participants: number;
  host: number | null;
  epoch: number;
  contributors: number;
  price: number;
  load: number;
  busy: number;
  airtimeS: number;
  binding: string | null;
  relevant: number;
  missed: number;
}

export interface ArmCycle {
  cycle: number;
  roles: Uint8Array;
  tiles: TileRow[];
  /** source + 8 x missed + 16 x seen by nobody */
  known: Uint8Array;
  ageMs: Uint32Array;
  from: Uint32Array;
  deliveries: { sender: number; broadcast: boolean; receivers: Uint32Array }[];
}

const BINDINGS = ["nothing", "value", "price", "allowance", "cycle", "quota"];

export type Explanation = ScoreExplanation | DemandExplanation;

/** A decision by score: the letter's rule. */
export interface ScoreExplanation {
  by: "score";
  cycle: number;
  tile: [number, number];
  snapshot: Snapshot;
  decision: Decision;
  recorded: { changes: Change[]; binding: string };
}

/** A choice by demand. */
export interface DemandExplanation {
  by: "demand";
  cycle: number;
  tile: [number, number];
  snapshot: DemandSnapshot;
  decision: DemandDecision;
  recorded: { picks: { pick: PickKind; id: number }[] };
  /** Where the host believed objects to be, in the grid's plane; empty in recordings of older programs. */
  tracks: Track[];
}
export interface Track {
  id: number;
  x: number;
  y: number;
  heading: number;
  length: number;
  width: number;
  age_ms: number;
}
/** Who could have told of what was missed: by cycle, then by number of the pair. */
export type SeenBy = Record<string, Record<string, number[]>>;
export type PickKind = "report" | "repeat" | "request";
export interface DemandSnapshot {
  parameters: Record<string, number> & { threshold: number; request_factor: number | null };
  host: { id: number };
  listeners: { id: number }[];
  objects: { id: number; silent: boolean; repeat_bytes: number | null }[];
  /** Listener, object, chance that it lacks it now, and at the end of the next cycle. */
  needs: [number, number, number, number][];
  candidates: { id: number; command: number; bonus: number; views: [number, number][] }[];
}
export interface DemandDecision {
  host: number;
  picks: { pick: PickKind; id: number; gain: number; bytes: number }[];
  requested: number[];
  bytes: number;
  budget_bytes: number;
  open_now: number;
  open_next: number;
  cut: boolean;
}
export interface Snapshot {
  parameters: Record<string, number> & { factors: string[] };
  price: number;
  host: number;
  prior: [number, number, number][];
  overheard: [number, number][];
  risk: [number, number, number, number][];
  agents: { id: number; role: string; cells: [number, number][] }[];
}
export interface Change {
  action: string;
  id: number;
  because: string;
  score: number;
}
export interface Decision {
  map: [number, number, number][];
  airtime: { seconds: number; fraction: number };
  airtime_after: { seconds: number; fraction: number };
  scores: {
    id: number;
    role: string;
    value: number;
    airtime: number;
    score: number;
    factors: { visible: number; novel: number; at_risk: number; in_time: number };
  }[];
  changes: Change[];
  host: number;
  price: number;
  binding: string;
}

class Bytes {
  at = 0;
  private readonly view: DataView;
  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  byte(): number {
    if (this.at >= this.bytes.length) throw new Error("a block of the recording is cut short");
    return this.bytes[this.at++]!;
  }
  /** An unsigned LEB128 number; ours stay below 2^53. */
  v(): number {
    let b = this.byte();
    if (b < 0x80) return b;
    let n = b & 0x7f;
    let scale = 128;
    for (;;) {
      b = this.byte();
      n += (b & 0x7f) * scale;
      if (b < 0x80) return n;
      scale *= 128;
    }
  }
  z(): number {
    const n = this.v();
    return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
  }
  f(): number {
    const x = this.view.getFloat64(this.at, true);
    this.at += 8;
    return x;
  }
  slice(n: number): Uint8Array {
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }
}

/** Lets the browser draw between two pieces of a longer job; what somebody waits for is done in one go. */
type Breathe = () => Promise<void> | undefined;
const breathe: Breathe = () => new Promise((done) => setTimeout(done, 0));
const hurry: Breathe = () => undefined;

async function motion(bytes: Uint8Array, pause: Breathe): Promise<Step[]> {
  const take = new Bytes(bytes);
  const steps: Step[] = [];
  // Per vehicle of the step before: id, x, y, dx, dy, heading, speed.
  let before: Int32Array = new Int32Array(0);
  const count = take.v();
  for (let s = 0; s < count; s++) {
    if (s % 8 === 7 && pause !== hurry) await pause();
    const step = take.v();
    const n = take.v();
    const ids = new Uint32Array(n);
    const x = new Float32Array(n);
    const y = new Float32Array(n);
    const heading = new Float32Array(n);
    const speed = new Float32Array(n);
    const next = new Int32Array(n * 7);
    let last = -1;
    let at = 0;
    for (let i = 0; i < n; i++) {
      const id = last + 1 + take.v();
      last = id;
      while (at < before.length && before[at]! < id) at += 7;
      const known = at < before.length && before[at] === id;
      const px = known ? before[at + 1]! : 0;
      const py = known ? before[at + 2]! : 0;
      const cx = px + (known ? before[at + 3]! : 0) + take.z();
      const cy = py + (known ? before[at + 4]! : 0) + take.z();
      const h = ((known ? before[at + 5]! : 0) + take.z()) & 0xffff;
      const v = (known ? before[at + 6]! : 0) + take.z();
      const to = i * 7;
      next[to] = id;
      next[to + 1] = cx;
      next[to + 2] = cy;
      next[to + 3] = known ? cx - px : 0;
      next[to + 4] = known ? cy - py : 0;
      next[to + 5] = h;
      next[to + 6] = v;
      ids[i] = id;
      x[i] = cx / 100;
      y[i] = cy / 100;
      heading[i] = (h / 65536) * 2 * Math.PI;
      speed[i] = v / 100;
    }
    before = next;
    steps.push({ step, ids, x, y, heading, speed });
  }
  return steps;
}

async function relevance(bytes: Uint8Array, pause: Breathe): Promise<Pairs[]> {
  const take = new Bytes(bytes);
  const cycles: Pairs[] = [];
  const count = take.v();
  for (let c = 0; c < count; c++) {
    if (pause !== hurry) await pause();
    const cycle = take.v();
    const n = take.v();
    const pairs: Pairs = {
      cycle,
      vehicle: new Uint32Array(n),
      object: new Uint32Array(n),
      deadlineMs: new Uint32Array(n),
      flags: new Uint8Array(n),
    };
    let last = 0;
    for (let i = 0; i < n; i++) {
      last += take.v();
      pairs.vehicle[i] = last;
      pairs.object[i] = take.v();
      pairs.deadlineMs[i] = take.v();
      pairs.flags[i] = take.byte();
    }
    cycles.push(pairs);
  }
  return cycles;
}

async function armCycles(bytes: Uint8Array, pause: Breathe): Promise<ArmCycle[]> {
  const take = new Bytes(bytes);
  const cycles: ArmCycle[] = [];
  const count = take.v();
  for (let c = 0; c < count; c++) {
    if (pause !== hurry) await pause();
    const cycle = take.v();
    const roles = take.slice(take.v());
    const tiles: TileRow[] = [];
    for (let i = take.v(); i > 0; i--) {
      const [tx, ty] = [take.z(), take.z()];
      const participants = take.v();
      const host = take.v() - 1;
      const [epoch, contributors] = [take.v(), take.v()];
      const [price, load, busy, airtimeS] = [take.f(), take.f(), take.f(), take.f()];
      const binding = take.byte();
      tiles.push({
        tx,
        ty,
        participants,
        host: host < 0 ? null : host,
        epoch,
        contributors,
        price,
        load,
        busy,
        airtimeS,
        binding: BINDINGS[binding - 1] ?? null,
        relevant: take.v(),
        missed: take.v(),
      });
    }
    const n = take.v();
    const known = new Uint8Array(n);
    const ageMs = new Uint32Array(n);
    const from = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      known[i] = take.byte();
      ageMs[i] = take.v();
      from[i] = take.v();
    }
    const deliveries: ArmCycle["deliveries"] = [];
    for (let i = take.v(); i > 0; i--) {
      const sender = take.v();
      const broadcast = take.byte() === 1;
      const receivers = new Uint32Array(take.v());
      let next = 0;
      for (let k = 0; k < receivers.length; k++) {
        receivers[k] = next + take.v();
        next = receivers[k]! + 1;
      }
      deliveries.push({ sender, broadcast, receivers });
    }
    cycles.push({ cycle, roles, tiles, known, ageMs, from, deliveries });
  }
  return cycles;
}

async function get(path: string): Promise<Response> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim() || `${path}: ${answer.status}`);
  return answer;
}

export async function json<T>(path: string): Promise<T> {
  return (await get(path)).json() as Promise<T>;
}

/** Chunks that stay in memory, least used first out. */
const KEEP = 24;

/** A recording whose chunks come as they are needed. */
export class Recording {
  private readonly chunks = new Map<string, { value?: unknown; failed?: boolean }>();
  private readonly explanations = new Map<string, Explanation | null | undefined>();
  /** Something that was waited for has come. */
  onArrival: () => void = () => {};
  onFailure: (text: string) => void = (text) => (this.failure = text);
  /** What went wrong before somebody asked. */
  failure: string | null = null;

  world!: World;

  private constructor(
    readonly number: number,
    readonly manifest: Manifest,
  ) {}

  /** Opens a recording at a moment: what is shown first is asked for as soon as it is known what that is. */
  static async open(number: number, time?: number, arms: (number | null | undefined)[] = []): Promise<Recording> {
    const world = json<World>(`/api/${number}/world`);
    // Where the manifest fails, nobody waits for the map.
    world.catch(() => {});
    const recording = new Recording(number, await json<Manifest>(`/api/${number}/manifest`));
    const { manifest } = recording;
    const cycle = recording.cycleAt(Math.max(recording.startS, Math.min(recording.endS, time ?? recording.startS)));
    recording.step(Math.round(recording.timeOf(cycle) / recording.stepS));
    recording.pairs(cycle);
    const [first, second] = arms;
    for (const arm of [first ?? recording.firstArm, second]) {
      if (arm !== null && arm !== undefined && arm < manifest.arms.length) recording.arm(arm, cycle);
    }
    recording.world = await world;
    return recording;
  }

  /** The arm that a page opens on: the first in which hosts decide, for there is most to see. */
  get firstArm(): number {
    return Math.max(0, this.manifest.arms.findIndex((arm) => arm.hosted));
  }

  get stepS(): number {
    return this.manifest.step_us / 1e6;
  }
  get cycleS(): number {
    return this.manifest.cycle_us / 1e6;
  }
  private get stepsPerCycle(): number {
    return this.manifest.cycle_us / this.manifest.step_us;
  }
  get startS(): number {
    return this.manifest.first_step * this.stepS;
  }
  get endS(): number {
    return (this.manifest.first_step + Math.max(0, this.manifest.steps - 1)) * this.stepS;
  }
  /** The cycle that was evaluated last at time `t`. */
  cycleAt(t: number): number {
    const step = Math.floor(t / this.stepS + 1e-6);
    const cycle = Math.floor((step - this.manifest.decision_us / this.manifest.step_us) / this.stepsPerCycle);
    const { first_cycle: first, cycles } = this.manifest;
    return Math.max(first, Math.min(first + cycles - 1, cycle));
  }
  /** When a cycle is evaluated. */
  timeOf(cycle: number): number {
    return (cycle * this.stepsPerCycle + this.manifest.decision_us / this.manifest.step_us) * this.stepS;
  }

  private chunk<T>(key: string, path: string, decode: (bytes: Uint8Array, pause: Breathe) => Promise<T>, pause = hurry): T | undefined {
    const held = this.chunks.get(key);
    if (held) {
      // Used just now: last to go.
      this.chunks.delete(key);
      this.chunks.set(key, held);
      return held.value as T | undefined;
    }
    const entry: { value?: unknown; failed?: boolean } = {};
    this.chunks.set(key, entry);
    for (const old of this.chunks.keys()) {
      if (this.chunks.size <= KEEP) break;
      this.chunks.delete(old);
    }
    get(`/api/${this.number}/${path}`)
      .then((answer) => answer.arrayBuffer())
      .then((buffer) => decode(new Uint8Array(buffer), pause))
      .then(
        (value) => {
          entry.value = value;
          this.onArrival();
        },
        (error: unknown) => this.onFailure(String(error instanceof Error ? error.message : error)),
      );
    return undefined;
  }

  step(step: number, pause = hurry): Step | undefined {
    const chunk = Math.floor(step / this.stepsPerCycle / this.manifest.chunk_cycles);
    const steps = this.chunk(`m${chunk}`, `motion/${chunk}`, motion, pause);
    return steps?.[step - steps[0]!.step];
  }

  pairs(cycle: number, pause = hurry): Pairs | undefined {
    const chunk = Math.floor(cycle / this.manifest.chunk_cycles);
    return this.chunk(`r${chunk}`, `relevance/${chunk}`, relevance, pause)?.find((c) => c.cycle === cycle);
  }

  arm(arm: number, cycle: number, pause = hurry): ArmCycle | undefined {
    const chunk = Math.floor(cycle / this.manifest.chunk_cycles);
    return this.chunk(`a${arm}.${chunk}`, `arm/${arm}/${chunk}`, armCycles, pause)?.find((c) => c.cycle === cycle);
  }

  /** An arm over the whole run; comes after the first picture. */
  curve(arm: number): Curve | undefined {
    return this.chunk(`c${arm}`, `curve/${arm}`, async (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as Curve);
  }

  tileCurves(arm: number): TileCurve[] | undefined {
    return this.chunk(`t${arm}`, `tiles/${arm}`, async (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as TileCurve[]);
  }

  /** Takes over what the run has left since; curves stay as they were until they are there anew. */
  async grow(): Promise<void> {
    const manifest = await json<Manifest>(`/api/${this.number}/manifest`);
    const over = [...this.chunks.keys()].filter((key) => key.startsWith("c") || key.startsWith("t"));
    const anew = over.map(async (key) => {
      const value: unknown = await json(`/api/${this.number}/${key.startsWith("c") ? "curve" : "tiles"}/${key.slice(1)}`);
      this.chunks.set(key, { value });
    });
    await Promise.all(anew);
    Object.assign(this.manifest, manifest);
  }

  /** Who could have told of what was missed in a cycle, by number of the pair; undefined while it is on its way. */
  seen(arm: number, cycle: number): Record<string, number[]> | undefined {
    const chunk = Math.floor(cycle / this.manifest.chunk_cycles);
    const all = this.chunk(`s${arm}.${chunk}`, `seen/${arm}/${chunk}`, async (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as SeenBy);
    return all && (all[String(cycle)] ?? {});
  }

  /** Something that is not at hand yet, once it is. */
  async ready<T>(look: () => T | undefined): Promise<T | undefined> {
    for (let wait = 0; wait < 400; wait++) {
      const found = look();
      if (found !== undefined) return found;
      await new Promise((done) => setTimeout(done, 15));
    }
    return undefined;
  }

  /** The same decision with another number, by the host's own code. */
  again(arm: number, cycle: number, host: number, what: string, value: number): Promise<Explanation> {
    return json<Explanation>(`/api/${this.number}/again/${arm}/${cycle}/${host}/${what}/${value}`);
  }

  /** What reports of some candidates would be worth by themselves. */
  alone(arm: number, cycle: number, host: number, ids: number[]): Promise<{ id: number; gain: number; bytes: number }[]> {
    return json(`/api/${this.number}/alone/${arm}/${cycle}/${host}/${ids.join()}`);
  }

  /** Asks for what comes next, so that playing does not wait. */
  prefetch(arms: number[], cycle: number): void {
    const next = (Math.floor(cycle / this.manifest.chunk_cycles) + 1) * this.manifest.chunk_cycles;
    if (next >= this.manifest.first_cycle + this.manifest.cycles) return;
    this.step(next * this.stepsPerCycle, breathe);
    this.pairs(next, breathe);
    for (const arm of arms) this.arm(arm, next, breathe);
  }

  /** Decisions that are on their way. */
  private asked = 0;

  /**
   * A host's decision: undefined while it is on its way, null where there is none. With `patient`, only one is asked for at a time:
   * while a run plays, those that come too late to be seen are not worth their work.
   */
  explanation(arm: number, cycle: number, host: number, patient = false): Explanation | null | undefined {
    const key = `${arm}/${cycle}/${host}`;
    if (this.explanations.has(key)) return this.explanations.get(key);
    if (patient && this.asked > 0) return undefined;
    this.explanations.set(key, undefined);
    this.asked++;
    if (this.explanations.size > 64) {
      for (const old of this.explanations.keys()) {
        this.explanations.delete(old);
        break;
      }
    }
    json<Explanation>(`/api/${this.number}/decision/${key}`).then(
      (value) => {
        this.asked--;
        this.explanations.set(key, value);
        this.onArrival();
      },
      () => {
        this.asked--;
        this.explanations.set(key, null);
        this.onArrival();
      },
    );
    return undefined;
  }

  /** The last cycle up to `cycle` in which `host` hosted a tile, as far as it is loaded, at most two seconds back. */
  lastDecision(arm: number, cycle: number, host: number): number | undefined {
    for (let c = cycle; c > cycle - this.manifest.chunk_cycles && c >= this.manifest.first_cycle; c--) {
      if (this.arm(arm, c)?.tiles.some((tile) => tile.host === host)) return c;
    }
    return undefined;
  }
}
