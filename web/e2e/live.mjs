// A run that is shown while it computes, in a real browser: it is paused, slowed down and let go.
// usage: node live.mjs NPM_FOLDER URL FOLDER_FOR_PICTURES
// Prints one line of JSON; any failed expectation ends it with an error.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { program } from "./program.mjs";

const [npm, url, pictures] = process.argv.slice(2);
const { chromium } = createRequire(resolve(npm, "package.json"))("playwright-core");
mkdirSync(pictures, { recursive: true });
const complaints = [];

const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
try {
  const page = await (await browser.newContext({ viewport: { width: 1366, height: 768 } })).newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  const state = () => page.evaluate(async () => (await fetch("/api/live")).json());
  const now = () => page.evaluate(() => window.covey.now());

  // It is under way, and the page plays what there is of it.
  const first = await state();
  assert.equal(first.done, false, "the run is under way");
  assert.ok((await now()).playing);
  await page.click("#live-pause");
  await page.waitForFunction(() => /paused/.test(document.querySelector("#live-state").textContent));
  const held = await state();
  await page.waitForTimeout(1200);
  assert.deepEqual(await state(), held, "while it is paused nothing is computed");
  assert.equal(await page.inputValue("#live-speed"), "2", "the pace that the run began with");
  await page.screenshot({ path: join(pictures, "paused.png") });

  // A page of another site cannot say how fast it goes.
  const foreign = await page.evaluate(async () => (await fetch("/api/live/go")).status);
  assert.equal(foreign, 403);
  complaints.length = 0;

  // Slowly: in a second of ours passes about half a one of its own.
  await page.selectOption("#live-speed", "0.5");
  await page.click("#live-pause");
  await page.waitForTimeout(1500);
  const slow = await state();
  assert.ok(slow.time_s > held.time_s, `${slow.time_s} > ${held.time_s}`);
  assert.ok(slow.time_s - held.time_s < 1.2, `${slow.time_s} - ${held.time_s} is slow`);

  // As fast as it can, to the end: all of it is there.
  await page.selectOption("#live-speed", "full");
  await page.waitForFunction(() => /ended/.test(document.querySelector("#live-state").textContent), null, { timeout: 120_000 });
  const end = await state();
  assert.ok(end.done && end.cycles > held.cycles);
  // The last of it is still on its way when the run has ended.
  await page.waitForFunction((cycles) => {
    const slider = document.querySelector("#slider");
    return Number(slider.max) - Number(slider.min) + 1 === cycles;
  }, end.cycles);
  await page.click("#live-newest");
  await page.waitForFunction((cycles) => {
    const slider = document.querySelector("#slider");
    return Number(slider.value) === Number(slider.max) && document.querySelectorAll(".counter .total").length > 0 && cycles > 0;
  }, end.cycles);
  await page.screenshot({ path: join(pictures, "ended.png") });
  assert.deepEqual(complaints, []);
  console.log(JSON.stringify({ held, slow, end }));
} finally {
  await browser.close();
}
