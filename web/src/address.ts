// The state of the page in its address, so that a moment can be sent to somebody.

export interface Place {
  recording: number;
  arm: number;
  versus: number | null;
  time: number;
  x: number;
  y: number;
  scale: number;
  selected: number | null;
  follow: boolean;
  /** The side whose details are shown: 0, or 1 of two arms. */
  side: number;
  /** Letters of the layers that are on. */
  layers: string;
  /** The missed object that is asked about. */
  miss: number | null;
}

export function read(search: string): Partial<Place> {
  const q = new URLSearchParams(search);
  const place: Partial<Place> = {};
  const take = (name: string, set: (n: number) => void): void => {
    const text = q.get(name);
    const n = text === null ? NaN : Number(text);
    if (Number.isFinite(n)) set(n);
  };
  const whole = (n: number): boolean => Number.isInteger(n) && n >= 0;
  take("r", (n) => whole(n) && (place.recording = n));
  take("arm", (n) => whole(n) && (place.arm = n));
  take("vs", (n) => whole(n) && (place.versus = n));
  take("t", (n) => (place.time = n));
  take("x", (n) => (place.x = n));
  take("y", (n) => (place.y = n));
  take("z", (n) => n > 0 && (place.scale = n));
  take("sel", (n) => whole(n) && (place.selected = n));
  take("side", (n) => (n === 0 || n === 1) && (place.side = n));
  take("miss", (n) => whole(n) && (place.miss = n));
  const layers = q.get("layers");
  if (layers !== null && /^[a-z]*$/.test(layers)) place.layers = layers;
  if (q.get("follow") === "1") place.follow = true;
  return place;
}

export function write(place: Place): string {
  const q = new URLSearchParams();
  q.set("r", String(place.recording));
  q.set("arm", String(place.arm));
  if (place.versus !== null) q.set("vs", String(place.versus));
  q.set("t", place.time.toFixed(2));
  q.set("x", place.x.toFixed(1));
  q.set("y", place.y.toFixed(1));
  q.set("z", place.scale.toPrecision(4));
  if (place.selected !== null) q.set("sel", String(place.selected));
  if (place.follow) q.set("follow", "1");
  if (place.side > 0) q.set("side", String(place.side));
  if (place.miss !== null) q.set("miss", String(place.miss));
  q.set("layers", place.layers);
  return `?${q.toString()}`;
}
