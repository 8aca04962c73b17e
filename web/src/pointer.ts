// Mouse, fingers and wheel on a map.

export interface Hands {
  /** Drag by so many pixels. */
  pan: (dx: number, dy: number) => void;
  /** Zoom about a place of the screen. */
  zoom: (factor: number, x: number, y: number) => void;
  /** A click or a tap. */
  press: (x: number, y: number) => void;
  /** The pointer rests here; null: it left. */
  over: (spot: [number, number] | null) => void;
  focus: () => void;
}

export function listen(canvas: HTMLCanvasElement, hands: Hands): void {
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
      if (pinch > 0 && d > 0) hands.zoom(d / pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      pinch = d;
      return;
    }
    if (held) {
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (held.moved || Math.hypot(dx, dy) > 4) {
        held.moved = true;
        hands.pan(-dx, dy);
        [held.x, held.y] = [event.clientX, event.clientY];
      }
      return;
    }
    hands.over([event.clientX, event.clientY]);
  });
  canvas.addEventListener("pointerup", (event) => {
    fingers.delete(event.pointerId);
    if (held && !held.moved) hands.press(event.clientX, event.clientY);
    held = null;
  });
  canvas.addEventListener("pointercancel", () => {
    fingers.clear();
    held = null;
  });
  canvas.addEventListener("pointerleave", () => hands.over(null));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      hands.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX, event.clientY);
    },
    { passive: false },
  );
  canvas.addEventListener("focus", hands.focus);
}
