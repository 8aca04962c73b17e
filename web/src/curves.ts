// Small curves over the time of the run, with axes and a line where the map is.

import type { Colours } from "./colours";

export interface Line {
  name: string;
  values: ArrayLike<number>;
  colour: string;
  dash?: number[];
}

/** Times of the first and the last value, in seconds. */
export type Span = readonly [number, number];

/** Room for the numbers of the axes, in CSS pixels. */
const LEFT = 40;
const RIGHT = 6;
const TOP = 6;
const BOTTOM = 15;

/** Round values from 0 to `most`, three or four of them. */
function ticks(most: number, count = 3): number[] {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.8) ?? 10 * power;
  const out: number[] = [];
  for (let i = 0; i * step <= most * 1.0001 && i < 12; i++) out.push(i * step);
  return out;
}

function label(x: number, step: number): string {
  return x.toFixed(Math.max(0, Math.min(4, -Math.floor(Math.log10(step) + 1e-9))));
}

export class Plot {
  readonly figure = document.createElement("figure");
  private readonly canvas = document.createElement("canvas");
  private readonly caption = document.createElement("figcaption");
  private lines: Line[] = [];
  private level: number | null = null;
  private most = 1;
  private span: Span = [0, 1];
  /** The curve itself, without the line of the present. */
  private readonly layer = document.createElement("canvas");
  private fresh = false;

  constructor(
    private readonly title: string,
    private readonly digits: number,
    /** Times stand below this one. */
    private readonly last: boolean,
    seek: (part: number) => void,
  ) {
    this.canvas.setAttribute("role", "img");
    if (last) this.figure.className = "last";
    this.figure.append(this.caption, this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const part = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
      seek(Math.max(0, Math.min(1, part)));
    });
  }

  set(lines: Line[], level: number | null, span: Span): void {
    this.lines = lines;
    this.level = level;
    this.span = span;
    let most = level ?? 0;
    for (const line of lines) for (let i = 0; i < line.values.length; i++) most = Math.max(most, line.values[i]!);
    this.most = most > 0 ? most * 1.08 : 1;
    this.fresh = false;
  }

  repaint(): void {
    this.fresh = false;
  }

  draw(part: number, c: Colours): void {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [w, h] = [Math.round(this.canvas.clientWidth * ratio), Math.round(this.canvas.clientHeight * ratio)];
    if (w < 2 || h < 2) return;
    if (this.canvas.width !== w || this.canvas.height !== h) {
      [this.canvas.width, this.canvas.height] = [w, h];
      this.fresh = false;
    }
    if (!this.fresh) this.paint(w, h, ratio, c);
    const pen = this.canvas.getContext("2d")!;
    pen.clearRect(0, 0, w, h);
    pen.drawImage(this.layer, 0, 0);
    pen.strokeStyle = c.text;
    pen.lineWidth = ratio;
    const x = LEFT * ratio + part * (w - (LEFT + RIGHT) * ratio);
    pen.beginPath();
    pen.moveTo(x, TOP * ratio);
    pen.lineTo(x, h - this.below() * ratio);
    pen.stroke();
    const now = this.lines.map((line) => {
      const at = Math.max(0, Math.min(line.values.length - 1, Math.round(part * (line.values.length - 1))));
      return `${this.lines.length > 1 ? `${line.name} ` : ""}${(line.values[at] ?? 0).toFixed(this.digits)}`;
    });
    const text = `${this.title}: ${now.join(" · ")}`;
    if (this.caption.textContent !== text) {
      this.caption.textContent = text;
      this.canvas.setAttribute("aria-label", `${text}. ${this.told()}`);
    }
  }

  /** The curve in words, for those who cannot see it. */
  private told(): string {
    const [from, to] = this.span;
    const lines = this.lines.map((line) => {
      let [most, at, sum] = [-Infinity, 0, 0];
      for (let i = 0; i < line.values.length; i++) {
        sum += line.values[i]!;
        if (line.values[i]! > most) [most, at] = [line.values[i]!, i];
      }
      const n = Math.max(1, line.values.length);
      const when = from + ((to - from) * at) / Math.max(1, n - 1);
      return `${line.name}: mean ${(sum / n).toFixed(this.digits)}, most ${most.toFixed(this.digits)} at ${when.toFixed(0)} seconds`;
    });
    return `From ${from.toFixed(0)} to ${to.toFixed(0)} seconds. ${lines.join("; ")}`;
  }

  private below(): number {
    return this.last ? BOTTOM : 3;
  }

  private paint(w: number, h: number, ratio: number, c: Colours): void {
    [this.layer.width, this.layer.height] = [w, h];
    const pen = this.layer.getContext("2d")!;
    pen.clearRect(0, 0, w, h);
    const [left, top] = [LEFT * ratio, TOP * ratio];
    const [width, height] = [w - (LEFT + RIGHT) * ratio, h - (TOP + this.below()) * ratio];
    pen.font = `${10.5 * ratio}px system-ui, sans-serif`;
    pen.fillStyle = c.faint;
    pen.strokeStyle = c.road;
    pen.lineWidth = ratio;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const marks = ticks(this.most);
    for (const y of marks) {
      const at = Math.round(top + height * (1 - y / this.most)) + 0.5;
      pen.beginPath();
      pen.moveTo(left, at);
      pen.lineTo(left + width, at);
      pen.stroke();
      pen.fillText(label(y, marks[1] ?? 1), left - 4 * ratio, at);
    }
    if (this.last) {
      const [from, to] = this.span;
      pen.textBaseline = "alphabetic";
      const times = ticks(to - from, Math.max(2, Math.floor(width / ratio / 70)));
      for (const t of times) {
        pen.textAlign = t === 0 ? "left" : t > (to - from) * 0.95 ? "right" : "center";
        pen.fillText(`${(from + t).toFixed(from + t < 10 && (times[1] ?? 1) < 1 ? 1 : 0)} s`, left + (width * t) / (to - from || 1), h - 3 * ratio);
      }
    }
    pen.save();
    pen.translate(left, top);
    paint(pen, this.lines, this.most, this.level, width, height, ratio, c);
    pen.restore();
    this.fresh = true;
  }
}

export function paint(
  pen: CanvasRenderingContext2D,
  lines: Line[],
  most: number,
  level: number | null,
  w: number,
  h: number,
  ratio: number,
  c: Colours,
): void {
  if (level !== null) {
    pen.strokeStyle = c.faint;
    pen.lineWidth = ratio;
    pen.setLineDash([4 * ratio, 4 * ratio]);
    pen.beginPath();
    pen.moveTo(0, h - (level / most) * h);
    pen.lineTo(w, h - (level / most) * h);
    pen.stroke();
    pen.setLineDash([]);
  }
  for (const line of lines) {
    const n = line.values.length;
    if (n === 0) continue;
    pen.strokeStyle = line.colour;
    pen.lineWidth = 1.5 * ratio;
    pen.setLineDash((line.dash ?? []).map((d) => d * ratio));
    pen.beginPath();
    for (let i = 0; i < n; i++) {
      const x = n === 1 ? w / 2 : (i / (n - 1)) * w;
      const y = h - (line.values[i]! / most) * h;
      if (i === 0) pen.moveTo(x, y);
      else pen.lineTo(x, y);
    }
    pen.stroke();
    pen.setLineDash([]);
  }
}

/** Means over a few neighbours, so that a curve of single cycles can be read. */
export function smooth(missed: ArrayLike<number>, relevant: ArrayLike<number>, reach: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < relevant.length; i++) {
    let [m, r] = [0, 0];
    for (let k = Math.max(0, i - reach); k <= Math.min(relevant.length - 1, i + reach); k++) {
      m += missed[k]!;
      r += relevant[k]!;
    }
    out.push(r > 0 ? m / r : 0);
  }
  return out;
}
