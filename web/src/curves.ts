// Small curves over the time of the run, with a line where the map is.

import type { Colours } from "./colours";

export interface Line {
  name: string;
  values: ArrayLike<number>;
  colour: string;
  dash?: number[];
}

export class Plot {
  readonly figure = document.createElement("figure");
  private readonly canvas = document.createElement("canvas");
  private readonly caption = document.createElement("figcaption");
  private lines: Line[] = [];
  private level: number | null = null;
  private most = 1;
  /** The curve itself, without the line of the present. */
  private readonly layer = document.createElement("canvas");
  private fresh = false;

  constructor(
    private readonly title: string,
    private readonly digits: number,
    seek: (part: number) => void,
  ) {
    this.canvas.setAttribute("role", "img");
    this.figure.append(this.caption, this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      seek((event.clientX - box.left) / box.width);
    });
  }

  set(lines: Line[], level: number | null): void {
    this.lines = lines;
    this.level = level;
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
    pen.beginPath();
    pen.moveTo(part * w, 0);
    pen.lineTo(part * w, h);
    pen.stroke();
    const now = this.lines.map((line) => {
      const at = Math.max(0, Math.min(line.values.length - 1, Math.round(part * (line.values.length - 1))));
      return `${this.lines.length > 1 ? `${line.name} ` : ""}${(line.values[at] ?? 0).toFixed(this.digits)}`;
    });
    const text = `${this.title}: ${now.join(" · ")}`;
    if (this.caption.textContent !== text) {
      this.caption.textContent = text;
      this.canvas.setAttribute("aria-label", `${text}; at most ${(this.most / 1.08).toFixed(this.digits)} in this run`);
    }
  }

  private paint(w: number, h: number, ratio: number, c: Colours): void {
    [this.layer.width, this.layer.height] = [w, h];
    paint(this.layer.getContext("2d")!, this.lines, this.most, this.level, w, h, ratio, c);
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
  pen.clearRect(0, 0, w, h);
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
      const y = h - 1 - (line.values[i]! / most) * (h - 2);
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
