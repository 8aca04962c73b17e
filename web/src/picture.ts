// Maps as a file, side by side, each with a line that says what it shows: a picture, or a film.

import type { Colours } from "./colours";
import { byId, say } from "./dom";

/** A map, and what it shows in words. */
export interface Piece {
  canvas: HTMLCanvasElement;
  text: string;
}

/** Draws all pieces beside each other. */
function compose(whole: HTMLCanvasElement, pieces: Piece[], c: Colours): void {
  const [width, height] = [pieces.reduce((sum, piece) => sum + piece.canvas.width, 0), Math.max(...pieces.map((piece) => piece.canvas.height))];
  if (whole.width !== width || whole.height !== height) [whole.width, whole.height] = [width, height];
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
}

function save(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

function savePicture(pieces: Piece[], name: string, c: Colours): void {
  const whole = document.createElement("canvas");
  compose(whole, pieces, c);
  save(whole.toDataURL("image/png"), name);
}

/** Pictures a second of a film. */
const RATE = 25;
/** A film ends by itself after so many seconds. */
const LONGEST_S = 60;

/** A film of the maps, as the browser's own recorder makes it. */
class Film {
  private readonly whole = document.createElement("canvas");
  private readonly recorder: MediaRecorder;
  private readonly begun = performance.now();

  /** Begins; `ended` is called when it is saved. */
  constructor(pieces: Piece[], name: string, c: Colours, ended: () => void) {
    compose(this.whole, pieces, c);
    this.recorder = new MediaRecorder(this.whole.captureStream(RATE), { mimeType: "video/webm", videoBitsPerSecond: 6e6 });
    const parts: Blob[] = [];
    this.recorder.ondataavailable = (event) => parts.push(event.data);
    this.recorder.onstop = () => {
      const address = URL.createObjectURL(new Blob(parts, { type: "video/webm" }));
      save(address, name);
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
      ended();
    };
    this.recorder.start(1000);
  }

  /** The next picture. */
  add(pieces: Piece[], c: Colours): void {
    compose(this.whole, pieces, c);
    if (performance.now() - this.begun > 1000 * LONGEST_S) this.end();
  }

  end(): void {
    if (this.recorder.state !== "inactive") this.recorder.stop();
  }
}

/** What is taken of the maps of a page. */
export class Camera {
  private film: Film | null = null;

  /** `name` gives a file's name by its ending. */
  constructor(
    private readonly pieces: () => Piece[],
    private readonly name: (ending: string) => string,
    private readonly colours: () => Colours,
    private readonly play: () => void,
  ) {}

  picture(): void {
    savePicture(this.pieces(), this.name("png"), this.colours());
    say("Picture saved");
  }

  /** Begins a film of what is played, or ends it. */
  toggle(): void {
    if (this.film) {
      this.end();
      return;
    }
    if (typeof MediaRecorder === "undefined" || !MediaRecorder.isTypeSupported("video/webm")) {
      say("This browser cannot make films");
      return;
    }
    this.play();
    byId("save-film").textContent = "End film";
    this.film = new Film(this.pieces(), this.name("webm"), this.colours(), () => {
      this.film = null;
      byId("save-film").textContent = "Film";
      say("Film saved");
    });
    say("Filming; press again to end");
  }

  /** The maps have been drawn. */
  drawn(): void {
    this.film?.add(this.pieces(), this.colours());
  }

  /** The playing has ended. */
  end(): void {
    this.film?.end();
  }
}
