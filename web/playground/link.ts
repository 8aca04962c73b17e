// A scene as a part of the address.

import type { Scene } from "./scenes";

const short = (x: number): number => Math.round(x * 10) / 10;

export function toLink(scene: Scene): string {
  const v = scene.vehicles.map((v) => [v.id, short(v.x), short(v.y), v.speed, (v.radio ? 1 : 0) + (v.heavy ? 2 : 0) + (v.dies ? 4 : 0)]);
  const b = scene.buildings.map((b) => [short(b.x), short(b.y), short(b.w), short(b.h)]);
  return `#${encodeURIComponent(JSON.stringify([v, b, scene.arms, scene.target, scene.capacity_bytes_per_s, scene.price_step, scene.seconds ?? 0, scene.dead_s ?? 1])).replaceAll("%2C", ",").replaceAll("%5B", "[").replaceAll("%5D", "]")}`;
}

/** The scene of an address; none where it has no such part, or one that is none. What its numbers may be, the simulator says. */
export function fromLink(hash: string): Scene | null {
  const numbers = (list: unknown, length: number): number[] => {
    if (!Array.isArray(list) || list.length !== length || !list.every((x) => typeof x === "number")) throw new Error("no scene");
    return list as number[];
  };
  try {
    const [v, b, arms, target, capacity, step, seconds, dead] = JSON.parse(decodeURIComponent(hash.slice(1))) as unknown[];
    return {
      vehicles: (v as unknown[]).map((row) => {
        const [id, x, y, speed, bits] = numbers(row, 5) as [number, number, number, number, number];
        return { id, x, y, speed, radio: (bits & 1) > 0, heavy: (bits & 2) > 0, dies: (bits & 4) > 0 };
      }),
      buildings: (b as unknown[]).map((row) => {
        const [x, y, w, h] = numbers(row, 4) as [number, number, number, number];
        return { x, y, w, h };
      }),
      arms: (arms as unknown[]).map(String),
      target: Number(target),
      capacity_bytes_per_s: Number(capacity),
      price_step: Number(step ?? 0.5),
      ...(Number(seconds) > 0 ? { seconds: Number(seconds) } : {}),
      dead_s: Number(dead ?? 1),
    };
  } catch {
    return null;
  }
}
