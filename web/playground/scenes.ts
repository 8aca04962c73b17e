// Five scenes that tell the letter's story.

export interface Vehicle {
  id: number;
  x: number;
  y: number;
  speed: number;
  radio?: boolean;
  heavy?: boolean;
  dies?: boolean;
}

export interface Building {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Scene {
  vehicles: Vehicle[];
  buildings: Building[];
  arms: string[];
  target?: number;
  capacity_bytes_per_s?: number;
  price_step?: number;
  /** Seconds that pass up to the moment, and before it since radios died. */
  seconds?: number;
  dead_s?: number;
}

/** South-west and south-east of the junction: the blind junction's own. */
const CORNERS = [
  { x: -60, y: -60, w: 54, h: 54 },
  { x: 6, y: -60, w: 54, h: 54 },
];

const crowd = (): Vehicle[] => {
  const all: Vehicle[] = [
    { id: 1, x: -1.5, y: -22, speed: 8, radio: true },
    { id: 2, x: -32, y: 1.5, speed: 9 },
  ];
  for (let i = 0; i < 7; i++) all.push({ id: 3 + i, x: 1.5, y: 14 + 8 * i, speed: 2, radio: true });
  for (let i = 0; i < 6; i++) all.push({ id: 10 + i, x: 18 + 9 * i, y: -1.5, speed: 3, radio: true });
  for (let i = 0; i < 6; i++) all.push({ id: 16 + i, x: 70 - 9 * i, y: 1.5, speed: 3, radio: true });
  return all;
};

export const SCENES: { title: string; story: string; scene: Scene }[] = [
  {
    title: "A blind corner",
    story:
      "Vehicle 1 comes from the south between two buildings and cannot see 2, which has no radio; 3 sees both, and a host that asks 3 spares 1 the surprise. Drag 3 into the street in the south, where it sees nothing of 2, and the cross appears; bring it back and it goes.",
    scene: {
      vehicles: [
        { id: 1, x: -1.5, y: -25, speed: 8, radio: true },
        { id: 2, x: -30, y: 1.5, speed: 8 },
        { id: 3, x: 1.5, y: 30, speed: 8, radio: true },
      ],
      buildings: CORNERS,
      arms: ["cam-only", "demand@0.2"],
    },
  },
  {
    title: "A redundant crowd",
    story:
      "Nine vehicles see the same car, and if everyone reports what it sees, the channel carries the same news again and again. A host that knows of it tells it once, and asks only for what somebody lacks: compare what each takes of the channel.",
    scene: { vehicles: crowd(), buildings: CORNERS, arms: ["cpm-etsi", "demand@0.2"], capacity_bytes_per_s: 60_000 },
  },
  {
    title: "A hidden lane",
    story:
      "A queue of trucks hides the lane behind it: vehicle 1 wants to cross and cannot see 3, which has no radio, while 4 and 5 can. Pull the budget down until the host may ask nobody, and the cross appears on the right, too.",
    scene: {
      vehicles: [
        { id: 1, x: -1.5, y: -11, speed: 4, radio: true },
        { id: 2, x: -22, y: -1.5, speed: 0, heavy: true },
        { id: 3, x: -26, y: 1.5, speed: 9 },
        { id: 4, x: -52, y: 1.5, speed: 9, radio: true },
        { id: 5, x: 1.5, y: 40, speed: 7, radio: true },
        { id: 6, x: -36, y: -1.5, speed: 0, heavy: true },
        { id: 7, x: -50, y: -1.5, speed: 0, heavy: true },
      ],
      buildings: [CORNERS[1]!],
      arms: ["cam-only", "demand@0.2"],
      capacity_bytes_per_s: 20_000,
    },
  },
  {
    title: "A dead host",
    story:
      "Vehicle 3 was the host, and its radio fell silent a second ago: nobody is there to ask, and 1 misses 2 under either policy. Pull the time since then beyond 1.4 s, and another has taken over; or select 3 and give it its radio back.",
    scene: {
      vehicles: [
        { id: 1, x: -1.5, y: -25, speed: 8, radio: true },
        { id: 2, x: -30, y: 1.5, speed: 8 },
        { id: 3, x: 1.5, y: 12, speed: 3, radio: true, dies: true },
        { id: 4, x: 1.5, y: 45, speed: 6, radio: true },
        { id: 5, x: 40, y: -1.5, speed: 6, radio: true },
      ],
      buildings: CORNERS,
      arms: ["proposed@0.2", "demand@0.2"],
      seconds: 4,
      dead_s: 1,
    },
  },
  {
    title: "An empty road",
    story:
      "Two vehicles and nobody else: what nobody has seen nobody can tell, and no policy helps. Draw one more vehicle with a radio where it sees both, and watch who can use it.",
    scene: {
      vehicles: [
        { id: 1, x: -1.5, y: -25, speed: 8, radio: true },
        { id: 2, x: -30, y: 1.5, speed: 8 },
      ],
      buildings: CORNERS,
      arms: ["cpm-etsi", "demand@0.2"],
    },
  },
];
