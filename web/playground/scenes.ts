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

export interface Scene {
  vehicles: Vehicle[];
  buildings: { x: number; y: number; w: number; h: number }[];
  arms: string[];
  target?: number;
  capacity_bytes_per_s?: number;
}

const CORNERS = [
  { x: -60, y: -60, w: 54, h: 54 },
  { x: 6, y: -60, w: 54, h: 54 },
];

const crowd = (): Vehicle[] => {
  const all: Vehicle[] = [
    { id: 1, x: -1.5, y: -22, speed: 8, radio: true },
    { id: 2, x: -32, y: 1.5, speed: 9 },
  ];
  for (let i = 0; i < 14; i++) all.push({ id: 10 + i, x: 1.5, y: 14 + 8 * i, speed: 2, radio: true });
  for (let i = 0; i < 8; i++) all.push({ id: 30 + i, x: 18 + 9 * i, y: -1.5, speed: 5, radio: true });
  return all;
};

export const SCENES: { title: string; story: string; scene: Scene }[] = [
  {
    title: "A blind corner",
    story:
      "Vehicle 1 comes from the south between two buildings and cannot see 2, which has no radio and comes from the west. Vehicle 3 sees both. With beacons alone 1 misses 2; where a host may ask, it asks 3. Drag 3 behind a building, and the cross comes back.",
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
    story: "Twenty-two vehicles see the same one object. If everyone reports it, the channel is full of the same news; a host asks one or two. Compare the load of both sides.",
    scene: { vehicles: crowd(), buildings: CORNERS, arms: ["cpm-etsi", "demand@0.2"], capacity_bytes_per_s: 60_000 },
  },
  {
    title: "A hidden lane",
    story: "A truck hides the car behind it from whoever wants to cross. The car behind the truck has a radio, but is not asked by everyone alike: pull the allowance down and see who is left.",
    scene: {
      vehicles: [
        { id: 1, x: -1.5, y: -12, speed: 5, radio: true },
        { id: 2, x: -12, y: 1.5, speed: 4, heavy: true },
        { id: 3, x: -34, y: 1.5, speed: 9 },
        { id: 4, x: -56, y: 1.5, speed: 8, radio: true },
        { id: 5, x: 30, y: -1.5, speed: 8, radio: true },
      ],
      buildings: CORNERS,
      arms: ["cam-only", "proposed@0.2"],
    },
  },
  {
    title: "A dead host",
    story: "The host in the middle of the tile falls silent a second before. Another one takes over: what does it still know? Give vehicle 3 its radio back with the box below.",
    scene: {
      vehicles: [
        { id: 1, x: -1.5, y: -25, speed: 8, radio: true },
        { id: 2, x: -30, y: 1.5, speed: 8 },
        { id: 3, x: 1.5, y: 12, speed: 4, radio: true, dies: true },
        { id: 4, x: 1.5, y: 45, speed: 6, radio: true },
        { id: 5, x: 40, y: -1.5, speed: 6, radio: true },
      ],
      buildings: CORNERS,
      arms: ["proposed@0.4", "demand@0.2"],
    },
  },
  {
    title: "An empty road",
    story: "Two vehicles and nobody else. What nobody has seen nobody can tell: no policy helps, and the right answer is to say nothing.",
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
