// The pictures of the README and of docs/viewer.md, made anew in a real browser by `cargo xtask pictures`.
// usage: node screens.mjs NPM_FOLDER COVEY FOLDER_FOR_PICTURES CORRIDOR
// CORRIDOR is a folder with a recording of the corridor that has an arm `proposed`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { program } from "./program.mjs";

const [npm, covey, pictures, corridor] = process.argv.slice(2);
const { chromium } = createRequire(resolve(npm, "package.json"))("playwright-core");
const top = join(dirname(fileURLToPath(import.meta.url)), "../..");
mkdirSync(pictures, { recursive: true });

/** Serves something with `covey view` while `use` has its address. */
async function view(what, use) {
  const child = spawn(covey, ["view", what, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await new Promise((done, fail) => {
      child.on("error", fail);
      child.on("exit", () => fail(new Error(`covey view ${what} has ended`)));
      child.stdout.once("data", (text) => done(String(text).split("\n")[0].trim()));
    });
    await use(url);
  } finally {
    child.kill();
  }
}

async function open(browser, address, height) {
  const page = await (await browser.newContext({ viewport: { width: 1366, height } })).newPage();
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  return page;
}

async function save(page, name) {
  const path = join(pictures, `${name}.png`);
  await page.screenshot({ path });
  await page.close();
  console.log(path);
}

/** The first moment, from the middle on and round, at which a host of the arm asks somebody, while the other arm, if there is one, misses more. */
const asking = (page, arm, other) =>
  page.evaluate(
    async ([arm, other]) => {
      const get = async (path) => (await fetch(`/api/0/${path}`)).json();
      const { first_cycle: first, cycles, grid } = await get("manifest");
      // Where the map's origin is in the grid's plane, in which hosts have their tracks.
      const [turn, x0, y0] = [(grid.azimuth_deg * Math.PI) / 180, grid.origin_x_m, grid.origin_y_m];
      const origin = [-x0 * Math.cos(turn) - y0 * Math.sin(turn), -y0 * Math.cos(turn) + x0 * Math.sin(turn)];
      const close = (track) => Math.hypot(track.x - origin[0], track.y - origin[1]) < 80;
      const [own, others] = await Promise.all([arm, other ?? arm].map(async (number) => (await get(`curve/${number}`)).missed));
      for (let turn = 0; turn < cycles; turn++) {
        const i = (Math.floor(cycles / 2) + turn) % cycles;
        if (other !== null && others[i] < own[i] + 2) continue;
        const slider = document.querySelector("#slider");
        slider.value = String(first + i);
        slider.dispatchEvent(new Event("input"));
        while (window.covey.tileHosts() === null) await new Promise((done) => setTimeout(done, 10));
        for (const host of window.covey.tileHosts()) {
          const answer = await fetch(`/api/0/decision/${arm}/${first + i}/${host}`);
          if (!answer.ok) continue;
          const { decision, snapshot, tracks } = await answer.json();
          // By demand: somebody is asked, and what is needed most is on the screen.
          const missed = (id) => snapshot.needs.some(([, object, now, next]) => object === id && Math.max(now, next) >= 0.3);
          const wanted = (tracks ?? []).filter((track) => missed(track.id));
          const asks = decision.picks
            ? decision.picks[0]?.pick === "report" && wanted.length > 0 && wanted.every(close)
            : decision.scores.length > 9 && decision.changes.some((change) => change.action === "admit");
          if (asks) return { time: window.covey.now().time, host };
        }
      }
      return null;
    },
    [arm, other],
  );

const armOf = async (page, start) => {
  const names = await page.$$eval("#arm option", (all) => all.map((o) => o.textContent));
  const at = names.findIndex((name) => name.startsWith(start));
  assert.ok(at >= 0, `no arm ${start} among ${names}`);
  return at;
};

/** The viewer on a moment at which a host asks somebody, its row pointed at. */
async function viewer(browser, url, name, [own, versus], eye) {
  const look = await open(browser, url, 768);
  const arm = await armOf(look, own);
  const other = versus === undefined ? null : await armOf(look, versus);
  await look.selectOption("#arm", String(arm));
  const found = await asking(look, arm, other);
  assert.ok(found, `no host asks anybody in what ${name} shows`);
  await look.close();
  const page = await open(browser, `${url}?arm=${arm}${other === null ? "" : `&vs=${other}`}&t=${found.time}&sel=${found.host}&${eye}`, 768);
  const row = '.decision tr.admit, .demand tr[data-pick="report"]';
  await page.waitForSelector(row);
  await page.locator(row).first().hover();
  await page.waitForTimeout(1500);
  await save(page, name);
}

const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
try {
  await view(join(top, "examples/blind-junction"), (url) => viewer(browser, url, "viewer-compare", ["demand", "cpm-rmr"], "x=0&y=0&z=2.4"));
  await view(corridor, (url) => viewer(browser, url, "viewer-host", ["proposed"], "z=1.1&follow=1"));
  await view("--playground", async (url) => {
    const page = await open(browser, url, 1000);
    await page.waitForFunction(() => window.playground.settled());
    await page.waitForTimeout(500);
    await save(page, "playground");
  });
} finally {
  await browser.close();
}
