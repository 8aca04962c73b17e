// The playground in a real browser: scenes, dragging, a link, and a miss that is cured.
// usage: node playground.mjs NPM_FOLDER URL FOLDER_FOR_PICTURES
// Prints one line of JSON with what was measured; any failed expectation ends it with an error.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { program } from "./program.mjs";

const [npm, url, pictures] = process.argv.slice(2);
const { chromium } = createRequire(resolve(npm, "package.json"))("playwright-core");
mkdirSync(pictures, { recursive: true });
const complaints = [];
const measured = {};

async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(`${address}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${address}: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(url).origin)) complaints.push(`a request to ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  await settle(page);
  return page;
}

const settle = (page) => page.waitForFunction(() => window.playground.settled());
const missed = (page) => page.evaluate(() => window.playground.answer.arms.map((arm) => arm.missed.map((m) => [m.vehicle, m.object, m.seen_by])));
const picture = async (page, name) => {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
};

/** Where a place of the scene is on the page, on the right side. */
async function spot(page, x, y) {
  const box = await page.locator("#sides canvas").nth(1).boundingBox();
  const scale = box.width / 150;
  return [box.x + (x + 75) * scale, box.y + (75 - y) * scale];
}

async function drag(page, from, to) {
  await page.mouse.move(...(await spot(page, ...from)));
  await page.mouse.down();
  await page.mouse.move(...(await spot(page, (from[0] + to[0]) / 2, (from[1] + to[1]) / 2)));
  await page.mouse.move(...(await spot(page, ...to)));
  await page.mouse.up();
  await settle(page);
}

/** Processor time of the workers of browsers on this machine, in ms. */
function workerCpuMs() {
  let sum = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const of = (file) => readFileSync(`/proc/${pid}/task/${thread}/${file}`, "utf8");
        if (of("comm").startsWith("DedicatedWorker")) sum += Number(of("schedstat").split(" ")[0]) / 1e6;
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}

async function slide(page, id, value) {
  await page.fill(`#${id}`, String(value));
  await settle(page);
}

const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
try {
  const page = await open(browser, url);
  measured.shown_ms = await page.evaluate(() => window.playground.shownMs);
  const has = (list, vehicle, object) => list.some(([v, o]) => v === vehicle && o === object);

  // The blind corner: beacons alone miss, a host that may ask does not.
  let [left, right] = await missed(page);
  assert.ok(has(left, 1, 2), `1 misses 2 with beacons alone: ${JSON.stringify(left)}`);
  assert.ok(!has(right, 1, 2), `and not by demand: ${JSON.stringify(right)}`);
  await picture(page, "blind-corner");

  // The witness goes away: the cross comes back; it returns: the miss is cured.
  await drag(page, [1.5, 32], [1.5, -45]);
  [, right] = await missed(page);
  assert.ok(has(right, 1, 2), `the witness is away: ${JSON.stringify(right)}`);
  assert.match(await page.textContent("#sides figure:nth-child(2) .misses"), /1 misses 2, behind a building/);
  await picture(page, "witness-away");
  await drag(page, [1.5, -43], [1.5, 30]);
  [, right] = await missed(page);
  assert.ok(!has(right, 1, 2), `cured by dragging: ${JSON.stringify(right)}`);

  // A slider does it, too: a host that may spend next to nothing asks nobody.
  await slide(page, "capacity", 5);
  await slide(page, "budget", 0.01);
  [, right] = await missed(page);
  assert.ok(has(right, 1, 2), `missed without a budget: ${JSON.stringify(right)}`);
  await slide(page, "budget", 0.8);
  await slide(page, "capacity", 242);
  [, right] = await missed(page);
  assert.ok(!has(right, 1, 2), `cured by the slider: ${JSON.stringify(right)}`);
  assert.match(await page.textContent("#status"), /Cured with choice by demand: 1 knows of 2/);

  // A scene drawn by hand: everything is removed, three vehicles and a building are put there.
  await page.click('[data-tool="remove"]');
  for (const place of [[-1.5, -27], [-32, 1.5], [1.5, 30], [-30, -30], [30, -30]]) {
    await page.mouse.click(...(await spot(page, ...place)));
    await settle(page);
  }
  assert.deepEqual(await page.evaluate(() => [window.playground.scene.vehicles.length, window.playground.scene.buildings.length]), [0, 0]);
  await page.click('[data-tool="building"]');
  await drag(page, [-58, -58], [-6, -6]);
  await page.click('[data-tool="car"]');
  await page.mouse.click(...(await spot(page, -1.5, -22)));
  await page.mouse.click(...(await spot(page, -28, 1.5)));
  await settle(page);
  // The second has no radio.
  await page.locator('#selected input[data-key="radio"]').uncheck();
  await settle(page);
  [left, right] = await missed(page);
  assert.ok(right.length > 0 && right[0][2].length === 0, `nobody has seen it: ${JSON.stringify(right)}`);
  await page.mouse.click(...(await spot(page, 1.5, 30)));
  await settle(page);
  [left, right] = await missed(page);
  assert.ok(left.length > 0 && right.length === 0, `the third cures it: ${JSON.stringify([left, right])}`);
  await picture(page, "drawn");

  // The scene is in the link.
  const friend = await open(browser, page.url());
  assert.deepEqual(await missed(friend), [left, right]);
  // Where other processes take their share, the better of two looks.
  measured.shown_ms = Math.min(measured.shown_ms, await friend.evaluate(() => window.playground.shownMs));
  await friend.close();

  // Every scene of the story runs, and none of them complains.
  measured.scenes = {};
  for (const button of await page.$$("#scenes button")) {
    await button.click();
    await settle(page);
    const title = await button.textContent();
    const answer = await page.evaluate(() => window.playground.answer);
    assert.equal(answer.error, "", title);
    assert.equal(answer.arms.length, 2);
    assert.doesNotMatch(await page.textContent("#status"), /Cured|Missed/, `${title}: nothing is said of the scene before`);
    measured.scenes[title] = answer.arms.map((arm) => `${arm.name} ${arm.missed.length}/${arm.relevant} load ${arm.load.toFixed(3)}`);
    await picture(page, title.replaceAll(" ", "-").toLowerCase());
  }
  // A dead host: nobody asks until another has taken over.
  await page.click("#scenes button:nth-child(4)");
  await settle(page);
  [left, right] = await missed(page);
  assert.ok(has(left, 1, 2) && has(right, 1, 2), `without a host: ${JSON.stringify([left, right])}`);
  await slide(page, "dead", 2);
  [left, right] = await missed(page);
  assert.deepEqual([left, right], [[], []], "another has taken over");
  // A queue of trucks: without a budget nobody is asked.
  await page.click("#scenes button:nth-child(3)");
  await settle(page);
  [left, right] = await missed(page);
  assert.ok(has(left, 1, 3) && !has(right, 1, 3), `the hidden lane: ${JSON.stringify([left, right])}`);
  await slide(page, "budget", 0.01);
  [, right] = await missed(page);
  assert.ok(has(right, 1, 3), `the hidden lane without a budget: ${JSON.stringify(right)}`);
  const crowd = measured.scenes["A redundant crowd"].map((text) => Number(text.split("load ")[1]));
  assert.ok(crowd[0] > 2 * crowd[1], `a crowd that all report loads more: ${crowd}`);

  // Thirty vehicles under two policies: one is dragged, and what is asked for is answered thirty times a second.
  await page.evaluate(() => {
    const scene = structuredClone(window.playground.scene);
    scene.arms = ["proposed@0.2", "demand@0.2"];
    scene.capacity_bytes_per_s = 242_000;
    scene.vehicles = Array.from({ length: 30 }, (_, i) => {
      const far = 12 + 9 * Math.floor(i / 4);
      const [x, y] = [[-far, 1.5], [far, -1.5], [-1.5, -far], [1.5, far]][i % 4];
      return { id: i + 1, x, y, speed: 6, radio: i % 5 !== 0, heavy: i % 11 === 0 };
    });
    window.playground.open(scene, "");
  });
  await settle(page);
  await page.evaluate(() => (window.playground.times.length = 0));
  // Processor time of the worker: wall time would count what other processes do. The best of six looks at ten answers.
  measured.thirty = { cpu_ms: Infinity };
  for (let look = 0; look < 6; look++) {
    const from = workerCpuMs();
    await page.evaluate(async (look) => {
      for (let i = 0; i < 10; i++) {
        window.playground.scene.vehicles[0].x = -12 - 0.2 * (10 * look + i);
        window.playground.change();
        do await new Promise((done) => requestAnimationFrame(done));
        while (!window.playground.answeredAll());
      }
    }, look);
    // Each policy has a worker of its own.
    measured.thirty.cpu_ms = Math.min(measured.thirty.cpu_ms, (workerCpuMs() - from) / 20);
  }
  const times = await page.evaluate(() => window.playground.times.slice().sort((a, b) => a - b));
  Object.assign(measured.thirty, { answers: times.length, least_wall_ms: times[0], median_wall_ms: times[Math.floor(times.length / 2)] });
  assert.ok(times.length >= 120 && measured.thirty.cpu_ms > 1, JSON.stringify(measured.thirty));
  // The same by the clock, for three seconds while it is dragged on in every frame: frames that were drawn, and answers of the policy that is behind the other.
  Object.assign(
    measured.thirty,
    await page.evaluate(async () => {
      const { playground } = window;
      const [begin, from] = [performance.now(), playground.sides.map((side) => side.answered)];
      let frames = 0;
      while (performance.now() - begin < 3000) {
        playground.scene.vehicles[0].x = -12 - (frames++ % 60) / 5;
        playground.change();
        await new Promise((done) => requestAnimationFrame(done));
      }
      const seconds = (performance.now() - begin) / 1000;
      const answers = Math.min(...playground.sides.map((side, i) => side.answered - from[i]));
      return { frames_per_s: frames / seconds, answers_per_s: answers / seconds };
    }),
  );
  await settle(page);
  await picture(page, "thirty");
  await page.close();

  const phone = await open(browser, url, { viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  const [wide, seen] = await phone.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= seen, `${wide} <= ${seen}`);
  const nameless = await phone.$$eval("button, select, input, canvas[tabindex]", (all) =>
    all.filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim())).map((e) => e.outerHTML),
  );
  assert.deepEqual(nameless, []);
  const small = await phone.$$eval("button, select", (all) => all.filter((e) => e.getBoundingClientRect().height < 39.5).map((e) => e.outerHTML));
  assert.deepEqual(small, []);
  await picture(phone, "phone-dark");
  await phone.close();
  const light = await open(browser, url, { viewport: { width: 390, height: 844 } });
  await picture(light, "phone-light");
  await light.close();
  const dark = await open(browser, url, { colorScheme: "dark" });
  await picture(dark, "dark");
  await dark.close();
} finally {
  await browser.close();
}
assert.deepEqual(complaints, []);
console.log(JSON.stringify(measured));
