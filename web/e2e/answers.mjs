// The viewer in a real browser: are its marks true, and does it answer who could have told?
// usage: node answers.mjs NPM_FOLDER URL COVEY FOLDER_FOR_PICTURES
// Prints one line of JSON with what was counted; any failed expectation ends it with an error.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { program } from "./program.mjs";

const [npm, url, covey, pictures] = process.argv.slice(2);
const { chromium } = createRequire(resolve(npm, "package.json"))("playwright-core");
mkdirSync(pictures, { recursive: true });

const complaints = [];
const counted = {};

async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(`${address}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${address}: ${error.message}`));
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true" && window.covey.shownMs !== null);
  return page;
}

const now = (page) => page.evaluate(() => window.covey.now());
const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });
const armOf = (page, start) =>
  page.evaluate((start) => [...document.querySelectorAll("#arm option")].findIndex((o) => o.textContent.startsWith(start)), start);

/** Every decision of choice by demand: what matters, by the recorded needs, and what has a mark. */
async function trueMarks(page) {
  const arm = await armOf(page, "demand");
  await page.selectOption("#arm", String(arm));
  return page.evaluate(async (arm) => {
    const manifest = await (await fetch("/api/0/manifest")).json();
    const pause = () => new Promise((done) => setTimeout(done, 8));
    const out = { decisions: 0, needed: 0, silent: 0, wrong: [], sizes: 0 };
    for (let cycle = manifest.first_cycle; cycle < manifest.first_cycle + manifest.cycles; cycle++) {
      const slider = document.querySelector("#slider");
      slider.value = String(cycle);
      slider.dispatchEvent(new Event("input"));
      for (let wait = 0; wait < 200 && window.covey.tileHosts() === null; wait++) await pause();
      for (const host of window.covey.tileHosts() ?? []) {
        const answer = await fetch(`/api/0/decision/${arm}/${cycle}/${host}`);
        if (!answer.ok) continue;
        const { snapshot, tracks } = await answer.json();
        const needs = new Map();
        for (const [, object, now, next] of snapshot.needs) {
          const [a, b] = needs.get(object) ?? [0, 0];
          needs.set(object, [a + now, b + next]);
        }
        const matter = [...needs].filter(([, sums]) => Math.max(...sums) >= 0.3).map(([id]) => id);
        window.covey.select(host);
        let marks = window.covey.marks();
        for (let wait = 0; wait < 200 && (marks.cycle !== cycle || marks.drawn.length !== marks.needed); wait++) {
          await pause();
          marks = window.covey.marks();
        }
        const drawn = new Set(marks.drawn.map((mark) => mark.id));
        out.decisions++;
        out.needed += matter.length;
        out.silent += matter.filter((id) => snapshot.objects.find((o) => o.id === id).silent).length;
        if (matter.some((id) => !drawn.has(id)) || drawn.size !== matter.length) out.wrong.push({ cycle, host, matter: matter.length, drawn: drawn.size, tracks: tracks.length });
        const by = marks.drawn.map((mark) => [mark.need, mark.half]).sort((a, b) => a[0] - b[0]);
        if (by.some(([, half], i) => i > 0 && half < by[i - 1][1])) out.wrong.push({ cycle, host, sizes: by });
      }
    }
    return out;
  }, arm);
}

/** Goes from miss to miss until the page offers to decide again. */
async function missWithHost(page) {
  for (let turn = 0; turn < 40; turn++) {
    const before = await now(page);
    await page.click("#next-miss");
    await page.waitForFunction((time) => window.covey.now().time !== time || document.querySelector("#status").textContent.startsWith("There is no"), before.time);
    await page.waitForSelector('.who[data-ready="true"]');
    if (await page.$(".who .whatif")) return true;
  }
  return false;
}

/** Moves a control of the page and compares what is asked for then with what `covey decide` says of the same snapshot. */
async function decideAgain(page, arm, what, value, change) {
  const place = await page.$eval(".whatif", (box) => ({ cycle: box.dataset.cycle, host: box.dataset.host }));
  const before = await page.textContent(".cured");
  await page.$eval(
    `.whatif input[data-what="${what}"]`,
    (input, value) => {
      input.value = String(value);
      input.dispatchEvent(new Event("input"));
    },
    value,
  );
  await page.waitForFunction((text) => document.querySelector(".cured").textContent !== text, before);
  const used = Number(await page.$eval(`.whatif input[data-what="${what}"]`, (input) => input.value));
  const asked = await page.$eval(".cured", (p) => p.dataset.asked);
  const snapshot = await page.evaluate(async ({ arm, place }) => (await fetch(`/api/0/snapshot/${arm}/${place.cycle}/${place.host}`)).json(), { arm, place });
  change(snapshot, used);
  const file = join(pictures, `again-${what}.json`);
  writeFileSync(file, JSON.stringify(snapshot));
  const decided = JSON.parse(execFileSync(covey, ["decide", "--json", file], { encoding: "utf8" }));
  let expected;
  if (decided.picks) expected = decided.picks.filter((p) => p.pick === "report").map((p) => p.id);
  else {
    const set = new Set(snapshot.agents.filter((a) => a.role === "contributor").map((a) => a.id));
    for (const c of decided.changes) c.action === "admit" ? set.add(c.id) : set.delete(c.id);
    expected = [...set].sort((a, b) => a - b);
  }
  assert.equal(asked, expected.join(), `${what} ${used}: the page asks whom \`covey decide\` asks`);
  assert.match(await page.textContent(".cured"), /cured if it is in what|not cured/);
  // What was decided then cured nothing: it is a miss.
  if (before.startsWith("As it was")) assert.doesNotMatch(before, /cured/);
}

const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
try {
  const page = await open(browser, url);
  const manifest = await page.evaluate(async () => (await fetch("/api/0/manifest")).json());
  assert.ok(manifest.arms[(await now(page)).arms[0]].hosted, "the page opens on an arm with hosts");
  assert.ok(manifest.revision.length > 0 && manifest.readings.protocol.cell_m > 0, "the recording names revision and parameters");
  assert.match(await page.textContent("#about"), /revision /);

  Object.assign(counted, await trueMarks(page));
  assert.deepEqual(counted.wrong, [], "every object that matters has a mark, and no other, larger for a greater need");
  assert.ok(counted.decisions > 40 && counted.needed > 40 && counted.silent > 10, JSON.stringify(counted));
  await picture(page, "marks");

  // Who could have told me? By demand, and by score.
  const demand = await armOf(page, "demand");
  await page.locator("body").press("Escape");
  await page.fill("#slider", String(manifest.first_cycle + 5));
  assert.ok(await missWithHost(page), "some miss of choice by demand can be decided again");
  await picture(page, "who-demand");
  await decideAgain(page, demand, "budget", 1e9, (snapshot, value) => (snapshot.parameters.budget_bytes = value));
  const proposed = await armOf(page, "proposed");
  await page.selectOption("#arm", String(proposed));
  assert.ok(await missWithHost(page), "some miss of the proposed selection can be decided again");
  await decideAgain(page, proposed, "price", 0, (snapshot, value) => (snapshot.price = value));
  await decideAgain(page, proposed, "allowance", 1, (snapshot, value) => (snapshot.parameters.allowance = value));
  await picture(page, "who-score");

  // Two arms: the next difference, and the next change of host.
  const rmr = await armOf(page, "cpm-rmr");
  await page.selectOption("#versus", String(rmr));
  const from = await now(page);
  await page.click("#next-difference");
  await page.waitForFunction((time) => window.covey.now().time !== time, from.time);
  await page.waitForSelector('.who[data-ready="true"]');
  await page.click("#next-host");
  await page.waitForFunction(() => /seconds: vehicle|There is no change of host/.test(document.querySelector("#status").textContent));

  // The address keeps side, layers, selection and moment.
  await page.click("#next-miss");
  await page.waitForSelector('.who[data-ready="true"]');
  await page.uncheck("#layer-tiles");
  await page.check("#layer-risk");
  await page.locator(".map canvas").nth(1).focus();
  await page.waitForTimeout(400);
  const there = await page.evaluate(() => ({ now: window.covey.now(), search: location.search }));
  const friend = await open(browser, url.replace(/\/$/, "") + "/" + there.search);
  await friend.waitForTimeout(400);
  const arrived = await friend.evaluate(() => ({ now: window.covey.now(), search: location.search }));
  assert.equal(arrived.search, there.search);
  assert.equal(arrived.now.selected, there.now.selected);
  assert.equal(await friend.isChecked("#layer-risk"), true);
  assert.equal(await friend.isChecked("#layer-tiles"), false);
  assert.match(there.search, /side=1/);
  await friend.close();
  const stranger = await open(browser, `${url}?sel=99999`);
  assert.equal((await now(stranger)).selected, null, "no vehicle is invented");
  await stranger.close();

  // Colours are those of the arms; a curve is told in words.
  const colours = await page.$$eval(".counter .swatch", (all) => all.map((s) => getComputedStyle(s).borderTopColor));
  assert.equal(new Set(colours).size, 2, colours.join());
  const told = await page.$$eval("#curves canvas", (all) => all.map((c) => c.getAttribute("aria-label")));
  assert.ok(told.length === 4 && told.every((text) => /From \d+ to \d+ seconds\. .*mean .*most .* at/.test(text)), told.join("\n"));

  // A picture can be saved.
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-picture")]);
  const file = join(pictures, "saved.png");
  await download.saveAs(file);
  assert.ok(statSync(file).size > 10_000);
  assert.equal(readFileSync(file).subarray(1, 4).toString(), "PNG");

  await picture(page, "compare");
  const address = page.url();

  // And a film of what is played, which another page plays.
  await page.fill("#slider", String(manifest.first_cycle));
  await page.click("#save-film");
  await page.waitForFunction((time) => window.covey.now().time > time + 1, (await now(page)).time);
  const [taken] = await Promise.all([page.waitForEvent("download"), page.click("#save-film")]);
  const film = join(pictures, "saved.webm");
  await taken.saveAs(film);
  assert.equal(await page.textContent("#save-film"), "Film");
  await page.click("#play");
  const cinema = await (await browser.newContext()).newPage();
  const shown = await cinema.evaluate(async (data) => {
    const video = document.createElement("video");
    video.src = data;
    await new Promise((done, fail) => ([video.onloadeddata, video.onerror] = [done, fail]));
    return [video.videoWidth, video.videoHeight];
  }, `data:video/webm;base64,${readFileSync(film).toString("base64")}`);
  const drawn = await page.$$eval(".map canvas", (all) => [all.reduce((sum, c) => sum + c.width, 0), all[0].height]);
  assert.ok(shown.every((size, i) => Math.abs(size - drawn[i]) <= 1), `the film has ${shown}, the maps ${drawn}`);
  await cinema.close();
  await page.close();

  // On a phone arms stand one above the other, nothing is wider than the screen, and buttons fit a finger.
  const phone = await open(browser, address, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const [wide, seen] = await phone.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= seen, `${wide} <= ${seen}`);
  const maps = await phone.$$eval(".map", (all) => all.map((m) => m.getBoundingClientRect().toJSON()));
  assert.ok(maps[1].top >= maps[0].bottom && maps[0].width > 380, JSON.stringify(maps));
  const small = await phone.$$eval("header button, footer button, #find button, #touch button, tbody button", (all) =>
    all.map((b) => b.getBoundingClientRect()).filter((box) => box.width > 0 && (box.height < 39.5 || box.width < 39.5)).length,
  );
  assert.equal(small, 0, "buttons smaller than 40 px");
  const keys = await phone.$$eval("[data-key]", (all) => all.filter((b) => b.getBoundingClientRect().width > 0).map((b) => b.dataset.key));
  assert.deepEqual(keys, ["n", "f", "0", "+", "-"], "a phone has buttons for keys");
  const scale = (await now(phone)).eye.scale;
  await phone.click('[data-key="+"]');
  assert.ok((await now(phone)).eye.scale > scale);
  await phone.click('[data-key="-"]');
  await phone.waitForTimeout(300);
  await picture(phone, "phone");
  await phone.screenshot({ path: join(pictures, "phone-whole.png"), fullPage: true });
  await phone.close();
  const dark = await open(browser, address, { colorScheme: "dark" });
  await dark.waitForTimeout(400);
  await picture(dark, "dark");
  await dark.close();
} finally {
  await browser.close();
}
assert.deepEqual(complaints, []);
delete counted.wrong;
console.log(JSON.stringify(counted));
