// Maps as a file: side by side, each with a line that says what it shows.

import type { Colours } from "./colours";

export function savePicture(pieces: { canvas: HTMLCanvasElement; text: string }[], name: string, c: Colours): void {
  const whole = document.createElement("canvas");
  whole.width = pieces.reduce((sum, piece) => sum + piece.canvas.width, 0);
  whole.height = Math.max(...pieces.map((piece) => piece.canvas.height));
  const pen = whole.getContext("2d")!;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  let x = 0;
  for (const { canvas, text } of pieces) {
    pen.drawImage(canvas, x, 0);
    pen.font = `${12 * ratio}px system-ui, sans-serif`;
    pen.fillStyle = c.halo;
    pen.fillRect(x, canvas.height - 20 * ratio, pen.measureText(text).width + 12 * ratio, 20 * ratio);
    pen.fillStyle = c.text;
    pen.fillText(text, x + 6 * ratio, canvas.height - 6 * ratio);
    x += canvas.width;
  }
  const link = document.createElement("a");
  link.href = whole.toDataURL("image/png");
  link.download = name;
  link.click();
}
