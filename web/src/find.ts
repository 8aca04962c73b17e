// The next moment at which something happens: a miss, a difference between two arms, another host.

import type { ArmCycle, Recording } from "./data";

/** A moment, and the vehicle that it is about. */
export interface Found {
  cycle: number;
  vehicle: number | null;
  object: number | null;
}

/** Pairs that an arm missed in a cycle, as numbers of the list of relevant pairs. */
function missed(arm: ArmCycle): number[] {
  const out: number[] = [];
  for (let i = 0; i < arm.known.length; i++) if ((arm.known[i]! & 8) !== 0) out.push(i);
  return out;
}

/** Looks on from the cycle after `cycle`, round to it again; null where there is nothing of the kind. */
async function look(r: Recording, cycle: number, test: (cycle: number) => Promise<Found | null>): Promise<Found | null> {
  const { first_cycle: first, cycles } = r.manifest;
  for (let i = 1; i <= cycles; i++) {
    const found = await test(first + ((cycle - first + i) % cycles));
    if (found) return found;
  }
  return null;
}

/** The next cycle in which an arm misses something. */
export async function nextMiss(r: Recording, arm: number, cycle: number): Promise<Found | null> {
  const curve = await r.ready(() => r.curve(arm));
  const first = r.manifest.first_cycle;
  return look(r, cycle, async (at) => {
    if (curve && curve.missed[at - first] === 0) return null;
    const [own, pairs] = await Promise.all([r.ready(() => r.arm(arm, at)), r.ready(() => r.pairs(at))]);
    const pair = own && missed(own)[0];
    return pairs && pair !== undefined ? { cycle: at, vehicle: pairs.vehicle[pair]!, object: pairs.object[pair]! } : null;
  });
}

/** The next cycle in which one of two arms misses what the other does not. */
export function nextDifference(r: Recording, arms: [number, number], cycle: number): Promise<Found | null> {
  return look(r, cycle, async (at) => {
    const [a, b, pairs] = await Promise.all([r.ready(() => r.arm(arms[0], at)), r.ready(() => r.arm(arms[1], at)), r.ready(() => r.pairs(at))]);
    if (!a || !b || !pairs) return null;
    const [one, other] = [new Set(missed(a)), new Set(missed(b))];
    const pair = [...one].find((i) => !other.has(i)) ?? [...other].find((i) => !one.has(i));
    return pair === undefined ? null : { cycle: at, vehicle: pairs.vehicle[pair]!, object: pairs.object[pair]! };
  });
}

/** The next cycle in which a tile has another host than in the cycle before, or none any more. */
export function nextHost(r: Recording, arm: number, cycle: number): Promise<Found | null> {
  return look(r, cycle, async (at) => {
    if (at <= r.manifest.first_cycle) return null;
    const [now, before] = await Promise.all([r.ready(() => r.arm(arm, at)), r.ready(() => r.arm(arm, at - 1))]);
    if (!now || !before) return null;
    for (const tile of now.tiles) {
      const was = before.tiles.find((t) => t.tx === tile.tx && t.ty === tile.ty);
      if (was && was.host !== tile.host) return { cycle: at, vehicle: tile.host ?? was.host, object: null };
    }
    return null;
  });
}
