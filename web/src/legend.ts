// What the marks mean, and what the keys do.

import type { Colours } from "./colours";
import { Role } from "./data";
import type { Layers } from "./map";
import { element } from "./why";

/** Layers by the letters that stand for them in the address. */
export const LETTERS = [
  ["coverage", "m"],
  ["risk", "r"],
  ["tiles", "t"],
  ["misses", "x"],
] as const satisfies readonly (readonly [keyof Layers, string])[];

/** A box for each layer that can be shown. */
export function layerBoxes(layers: Layers, changed: () => void): HTMLElement {
  const box = element("div", "", { class: "layers" });
  const names: [keyof Layers, string][] = [
    ["coverage", "Coverage M of the host (M)"],
    ["risk", "Risk map (R)"],
    ["tiles", "Tiles (T)"],
    ["misses", "Misses (X)"],
  ];
  for (const [key, name] of names) {
    const label = element("label");
    const check = element("input", "", { type: "checkbox", id: `layer-${key}` });
    check.checked = layers[key];
    check.addEventListener("change", () => {
      layers[key] = check.checked;
      changed();
    });
    label.append(check, ` ${name}`);
    box.append(label);
  }
  return box;
}

/** What each mark means, drawn as the map draws it. */
export function legend(c: Colours): HTMLElement {
  const list = element("ul", "", { class: "legend" });
  const texts = ["no radio", "listener", "candidate", "contributor", "host"];
  for (let role = Role.Unequipped; role <= Role.Host; role++) {
    const item = element("li");
    const canvas = element("canvas", "", { "aria-hidden": "true" });
    [canvas.width, canvas.height] = [52, 40];
    const pen = canvas.getContext("2d")!;
    pen.translate(26, 20);
    pen.lineWidth = 3;
    pen.fillStyle = pen.strokeStyle = c.roles[role]!;
    pen.beginPath();
    pen.moveTo(-18, -7);
    pen.lineTo(12, -7);
    pen.lineTo(18, 0);
    pen.lineTo(12, 7);
    pen.lineTo(-18, 7);
    pen.closePath();
    if (role === Role.Unequipped) pen.stroke();
    else pen.fill();
    pen.beginPath();
    if (role === Role.Candidate) pen.arc(0, 0, 14, 0, 2 * Math.PI);
    if (role === Role.Contributor) [[0, -17], [15, 12], [-15, 12]].forEach(([x, y]) => pen.lineTo(x!, y!));
    if (role === Role.Host) [[0, -18], [18, 0], [0, 18], [-18, 0]].forEach(([x, y]) => pen.lineTo(x!, y!));
    if (role === Role.Candidate) pen.stroke();
    else if (role > Role.Candidate) {
      pen.closePath();
      pen.strokeStyle = c.ground;
      pen.fill();
      pen.stroke();
    }
    item.append(canvas, ` ${texts[role]!}`);
    list.append(item);
  }
  mark(list, "misses something that matters (the cross has a halo, so that it shows without colour)", (pen) => {
    for (const [colour, width] of [
      [c.halo, 10],
      [c.miss, 4.5],
    ] as const) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.beginPath();
      pen.moveTo(-10, -9);
      pen.lineTo(10, 9);
      pen.moveTo(10, -9);
      pen.lineTo(-10, 9);
      pen.stroke();
    }
  });
  mark(list, "needed by somebody near the selected host, larger for a greater need", (pen) => {
    pen.strokeStyle = c.risk;
    pen.strokeRect(-12, -12, 24, 24);
  });
  mark(list, "where the host believes an object without a radio to be", (pen) => {
    pen.strokeStyle = c.risk;
    pen.setLineDash([6, 4]);
    pen.strokeRect(-18, -8, 36, 16);
  });
  for (const [text, colour] of [
    ["cells that the host's twin holds", c.heat],
    ["cells that somebody is about to drive through (risk map)", c.risk],
  ] as const) {
    mark(list, text, (pen) => {
      pen.fillStyle = colour;
      pen.globalAlpha = 0.45;
      pen.fillRect(-16, -16, 32, 32);
    });
  }
  mark(list, "cells that the pointed-at candidate sees", (pen) => {
    pen.strokeStyle = c.seen;
    pen.strokeRect(-14, -14, 28, 28);
  });
  mark(list, "tile", (pen) => {
    pen.strokeStyle = c.tile;
    pen.lineWidth = 2;
    pen.setLineDash([8, 5]);
    pen.strokeRect(-22, -14, 44, 28);
  });
  mark(list, "selected; thinner: pointed at", (pen) => {
    pen.strokeStyle = c.select;
    pen.beginPath();
    pen.arc(0, 0, 15, 0, 2 * Math.PI);
    pen.stroke();
  });
  const lines: [string, string, number, number[]][] = [
    ["what matters to the selected vehicle, and it knows", c.select, 2, []],
    ["what it misses", c.miss, 4, [10, 8]],
    ["who had seen the missed object, or tells of an object", c.seen, 4, []],
    ["who needs that object", c.risk, 2, [8, 6]],
    ["who decoded a message of the vehicle pointed at, or whose it decoded", c.link, 2, []],
  ];
  for (const [text, colour, width, dash] of lines) {
    mark(list, text, (pen) => {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(-24, 0);
      pen.lineTo(24, 0);
      pen.stroke();
    });
  }
  return list;
}

/** An entry of the legend. */
function mark(list: HTMLElement, text: string, draw: (pen: CanvasRenderingContext2D) => void): void {
  const item = element("li");
  const canvas = element("canvas", "", { "aria-hidden": "true" });
  [canvas.width, canvas.height] = [52, 40];
  const pen = canvas.getContext("2d")!;
  pen.translate(26, 20);
  pen.lineWidth = 3;
  draw(pen);
  item.append(canvas, ` ${text}`);
  list.append(item);
}

/** Buttons do what their keys do: a phone has none. */
function listenToKeyButtons(): void {
  for (const button of document.querySelectorAll<HTMLElement>("button[data-key]")) {
    button.addEventListener("click", () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: button.dataset["key"]!, bubbles: true })));
  }
}

export function fillHelp(): void {
  listenToKeyButtons();
  const help = document.getElementById("help") as HTMLDialogElement;
  const rows: [string, string][] = [
    ["Space", "play, pause"],
    ["← →", "one cycle back, on (with Shift: five; on a focused map: move it)"],
    ["Home End", "first and last moment"],
    ["[ ]", "slower, faster"],
    ["+ − 0", "zoom, everything"],
    ["N P", "next host, host before"],
    ["F", "follow the selected vehicle"],
    ["C", "compare with the next arm, or not"],
    ["M R T X", "coverage, risk, tiles, misses"],
    ["J D H", "next miss, next difference between arms, next change of host"],
    ["S V", "save a picture of the map; begin or end a film of it"],
    ["Esc", "select nothing"],
  ];
  help.append(element("h2", "Keys"));
  const table = element("table");
  for (const [keys, text] of rows) {
    const line = element("tr");
    const cell = element("td");
    for (const key of keys.split(" ")) cell.append(element("kbd", key), " ");
    line.append(cell, element("td", text));
    table.append(line);
  }
  const close = element("button", "Close", { type: "button" });
  close.addEventListener("click", () => help.close());
  help.append(table, close);
}
