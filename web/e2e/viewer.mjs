// The viewer in a real browser: everything that a person does with it, and what it must not do.
// usage: node viewer.mjs NPM_FOLDER URL COVEY FOLDER_FOR_PICTURES [LARGE_URL]
// Prints one line of JSON with what was measured; any failed expectation ends it with an error.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { otherThanKept } from "./compare.mjs";
import { program } from "./program.mjs";

const [npm, url, covey, pictures, largeUrl] = process.argv.slice(2);
const { chromium } = createRequire(resolve(npm, "package.json"))("playwright-core");
mkdirSync(pictures, { recursive: true });

const complaints = [];
const measured = {};

async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(`${address}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${address}: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !(largeUrl && request.url().startsWith(largeUrl))) complaints.push(`a request to ${request.url()}`);
  });
  const begin = Date.now();
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true" && window.covey.shownMs !== null);
  return { page, opened: Date.now() - begin };
}

/** Processor time of the page's thread up to the first whole picture: wall time would count what other processes do. */
async function cpuToFirstPicture(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(address);
  await page.waitForFunction(() => window.covey?.shownMs > 0, undefined, { polling: 10 });
  const { metrics } = await session.send("Performance.getMetrics");
  await context.close();
  return metrics.find((m) => m.name === "TaskDuration").value * 1000;
}

const now = (page) => page.evaluate(() => window.covey.now());
const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });
/** The numbers behind an arm's name in the list. */
const armOf = (page, start) =>
  page.evaluate((start) => [...document.querySelectorAll("#arm option")].findIndex((o) => o.textContent.startsWith(start)), start);

async function hostsOf(page) {
  await page.waitForFunction(() => window.covey.hosts().length > 0);
  return page.evaluate(() => window.covey.hosts());
}

const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
try {
  // Opens, and plays.
  const { page, opened } = await open(browser, url);
  measured.opened_ms = opened;
  const proposed = await armOf(page, "proposed");
  assert.ok(proposed >= 0, "the recording has an arm `proposed`");
  await page.selectOption("#arm", String(proposed));
  const start = await now(page);
  await page.click("#play");
  await page.waitForFunction((t) => window.covey.now().time > t + 0.6, start.time);
  await page.click("#play");
  const paused = await now(page);
  assert.equal(paused.playing, false);

  // Scrubs, by the slider and by keys.
  const last = Number(await page.getAttribute("#slider", "max"));
  const first = Number(await page.getAttribute("#slider", "min"));
  const middle = Math.floor((first + last) / 2);
  await page.fill("#slider", String(middle));
  assert.equal((await now(page)).cycle, middle);
  await page.locator("body").press("ArrowRight");
  assert.equal((await now(page)).cycle, middle + 1);
  await page.locator("body").press("ArrowLeft");
  assert.equal((await now(page)).cycle, middle);
  await page.locator("body").press("]");
  assert.equal(await page.inputValue("#speed"), "2");
  await page.locator("body").press("[");

  // Finds a moment at which a host admits somebody, clicks that host, and asks `covey decide` about it.
  const found = await page.evaluate(
    async ({ arm, first, last, middle }) => {
      for (let i = 0; i <= last - first; i++) {
        const cycle = first + ((middle - first + i) % (last - first + 1));
        document.querySelector("#slider").value = String(cycle);
        document.querySelector("#slider").dispatchEvent(new Event("input"));
        for (let wait = 0; wait < 100; wait++) {
          await new Promise((done) => setTimeout(done, 20));
          if (window.covey.hosts().length > 0) break;
        }
        for (const host of window.covey.hosts()) {
          const answer = await fetch(`/api/0/decision/${arm}/${cycle}/${host.id}`);
          const { decision } = await answer.json();
          if (decision.changes.some((change) => change.action === "admit") && decision.scores.length > 2) return { cycle, host: host.id };
        }
      }
      return null;
    },
    { arm: proposed, first, last, middle },
  );
  assert.ok(found, "some host admits somebody in this recording");
  const spot = (await hostsOf(page)).find((host) => host.id === found.host);
  await page.mouse.click(spot.x, spot.y);
  await page.waitForSelector(".decision tbody tr");
  assert.equal((await now(page)).selected, found.host);
  const admitted = await page.getAttribute(".decision tr.admit", "data-agent");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("a.export")]);
  const file = join(pictures, "snapshot.json");
  await download.saveAs(file);
  const decided = JSON.parse(execFileSync(covey, ["decide", "--json", file], { encoding: "utf8" }));
  const winner = decided.changes.find((change) => change.action === "admit");
  assert.equal(admitted, String(winner.id), "the page and `covey decide` admit the same vehicle");
  assert.equal(decided.host, found.host);
  const shown = await page.$$eval(".decision tbody tr", (rows) => rows.map((row) => [...row.children].slice(0, 10).map((cell) => cell.textContent)));
  assert.equal(shown.length, decided.scores.length);
  const text = execFileSync(covey, ["decide", file], { encoding: "utf8" });
  const flat = text.split("\n").map((line) => line.trim().split(/\s+/).slice(0, 10).join(" "));
  for (const row of shown) assert.ok(flat.includes(row.join(" ")), `row ${row.join(" ")} is in the table of covey decide:\n${text}`);
  for (const line of await page.$$eval(".verdict p", (all) => all.map((p) => p.textContent))) assert.ok(text.includes(line), `${line}\n${text}`);
  await page.hover(".decision tbody tr:nth-child(2)");
  await picture(page, "why-host");

  // A vehicle: what it knows.
  await page.click(".decision tbody tr:nth-child(2) button");
  await page.waitForSelector(".vehicle h2");
  await page.waitForFunction(() => !document.querySelector(".vehicle").textContent.includes("Loading"));
  assert.match(await page.textContent(".vehicle"), /relevant object|No object is relevant/);
  await picture(page, "why-vehicle");

  // A host that chooses by demand: who lacks what, and what each pick is worth, as `covey decide` says.
  await page.locator("body").press("Escape");
  const demand = await armOf(page, "demand");
  assert.ok(demand >= 0, "the recording has an arm `demand`");
  await page.selectOption("#arm", String(demand));
  const chosen = await page.evaluate(
    async ({ arm, first, last, middle }) => {
      for (let i = 0; i <= last - first; i++) {
        const cycle = first + ((middle - first + i) % (last - first + 1));
        document.querySelector("#slider").value = String(cycle);
        document.querySelector("#slider").dispatchEvent(new Event("input"));
        for (let wait = 0; wait < 100; wait++) {
          await new Promise((done) => setTimeout(done, 20));
          if (window.covey.hosts().length > 0) break;
        }
        for (const host of window.covey.hosts()) {
          const answer = await fetch(`/api/0/decision/${arm}/${cycle}/${host.id}`);
          const { decision } = await answer.json();
          if (decision.picks.filter((p) => p.pick === "report").length > 1 && decision.picks.some((p) => p.pick !== "report")) return { cycle, host: host.id };
        }
      }
      return null;
    },
    { arm: demand, first, last, middle },
  );
  assert.ok(chosen, "some host picks reports and objects in this recording");
  const place = (await hostsOf(page)).find((host) => host.id === chosen.host);
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector(".demand tbody tr[data-pick]");
  assert.equal((await now(page)).selected, chosen.host);
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("a.export")]);
  const demandFile = join(pictures, "demand-snapshot.json");
  await saved.saveAs(demandFile);
  const choice = JSON.parse(execFileSync(covey, ["decide", "--json", demandFile], { encoding: "utf8" }));
  assert.equal(choice.host, chosen.host);
  const shownRows = await page.$$eval(".demand tr[data-pick]", (all) => all.map((row) => [row.dataset.agent, ...[...row.children].slice(0, 5).map((cell) => cell.textContent)]));
  // A host's own number of a track is shown by its last 16 bits.
  for (const [id, , label] of shownRows) assert.equal(label, String(Number(id) < 2 ** 48 ? id : Number(id) % 65536));
  const rows = shownRows.map(([id, pick, , ...rest]) => [pick, id, ...rest]);
  assert.deepEqual(
    rows.map(([pick, id]) => `${pick} ${id}`),
    choice.picks.map(({ pick, id }) => `${pick} ${id}`),
    "the page and `covey decide` pick the same, in the same order",
  );
  const said = execFileSync(covey, ["decide", demandFile], { encoding: "utf8" });
  const saidRows = said.split("\n").map((line) => line.trim().split(/\s+/).join(" "));
  for (const row of rows) assert.ok(saidRows.includes(row.join(" ")), `row ${row.join(" ")} is in the table of covey decide:\n${said}`);
  for (const line of await page.$$eval(".demand .verdict p", (all) => all.map((p) => p.textContent))) assert.ok(said.includes(line), `${line}\n${said}`);
  // What is missing: every object of the snapshot, with the listeners that need it.
  const snapshot = JSON.parse(readFileSync(demandFile, "utf8"));
  const objects = await page.$$eval(".missing tr[data-object]", (all) => all.map((row) => Number(row.dataset.object)));
  assert.deepEqual(objects.sort((a, b) => a - b), snapshot.objects.map((object) => object.id).slice(0, 60));
  const needy = await page.textContent(`.missing tr[data-object="${snapshot.needs[0][1]}"] td:last-child`);
  assert.ok(needy.split(", ").includes(String(snapshot.needs[0][0])), `${needy} names ${snapshot.needs[0][0]}`);
  assert.equal(await page.$(".demand .warning"), null, "what was recorded is what is picked again");
  await page.hover('.demand tr[data-pick="report"]');
  await picture(page, "why-demand");
  await page.selectOption("#arm", String(proposed));

  // Keys find hosts, too.
  await page.locator("body").press("Escape");
  assert.equal((await now(page)).selected, null);
  await page.locator("body").press("n");
  assert.notEqual((await now(page)).selected, null);

  // Two arms side by side, locked in time and view.
  const other = await armOf(page, "cpm-rmr");
  await page.selectOption("#versus", String(other));
  assert.deepEqual((await now(page)).arms, [proposed, other]);
  await page.waitForFunction(() => document.querySelectorAll(".counter .total").length === 2);
  const box = await page.locator(".map canvas").nth(1).boundingBox();
  const before = await now(page);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction((scale) => window.covey.now().eye.scale > scale, before.eye.scale);
  await page.fill("#slider", String(last));
  await page.waitForFunction((cycle) => window.covey.now().cycle === cycle, last);
  await page.waitForFunction(() => document.querySelectorAll(".counter .total").length === 2);
  // The counters are those of the recorded curves, summed here, once the page has drawn that moment.
  const sums = await page.evaluate(async () => {
    const m = await (await fetch("/api/0/manifest")).json();
    const curves = await Promise.all(m.arms.map(async (_, arm) => (await fetch(`/api/0/curve/${arm}`)).json()));
    return curves.map((curve) => `${curve.missed.reduce((a, b) => a + b, 0)} of ${curve.relevant.reduce((a, b) => a + b, 0)} missed`);
  });
  const texts = () => page.$$eval(".counter", (all) => all.map((c) => c.textContent));
  for (let tries = 0; tries < 100 && !(await texts())[1].includes(sums[other]); tries++) await page.waitForTimeout(50);
  const counters = await texts();
  assert.match(counters[0], /^proposed.*\d+ of \d+ missed/);
  assert.match(counters[1], /^cpm-rmr.*\d+ of \d+ missed/);
  assert.ok(counters[0].includes(sums[proposed]), `${counters[0]} has ${sums[proposed]}`);
  assert.ok(counters[1].includes(sums[other]), `${counters[1]} has ${sums[other]}`);
  await page.fill("#slider", String(middle));
  await page.waitForTimeout(400);
  await picture(page, "compare");

  // The texts of tiles can be read wherever one looks: none lies under the box with the counts.
  for (const key of ["0", "+", "ArrowLeft"]) {
    await page.locator("body").press(key);
    await page.waitForTimeout(400);
    const texts = await page.evaluate(() => window.covey.tileTexts());
    assert.equal(texts.covered, 0, `after ${key} ${texts.covered} of ${texts.all} texts are covered`);
    if (key === "0") assert.ok(texts.all > 0, "tiles have texts");
  }
  await page.fill("#slider", String(middle));
  await page.waitForTimeout(400);

  // The moment in the address is the moment on another screen.
  const address = page.url();
  const there = await now(page);
  const friend = await open(browser, address);
  const arrived = await now(friend.page);
  assert.ok(Math.abs(arrived.time - there.time) < 0.006, `${arrived.time} is ${there.time}`);
  assert.deepEqual(arrived.arms, there.arms);
  assert.equal(arrived.selected, there.selected);
  assert.ok(Math.abs(arrived.eye.scale / there.eye.scale - 1) < 1e-3);
  await friend.page.close();
  await page.close();

  // Dark, and on a tablet: nothing is wider than the screen.
  const tablet = await open(browser, address, { viewport: { width: 820, height: 1100 }, colorScheme: "dark" });
  assert.equal(await tablet.page.evaluate(() => document.documentElement.dataset.theme), "dark");
  const [wide, seen] = await tablet.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= seen, `${wide} <= ${seen}`);
  await tablet.page.waitForTimeout(500);
  await picture(tablet.page, "tablet-dark");
  // Whatever can be operated has a name.
  const nameless = await tablet.page.$$eval("button, select, input, canvas[tabindex]", (all) =>
    all.filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim())).map((e) => e.outerHTML),
  );
  assert.deepEqual(nameless, []);
  await tablet.page.close();

  if (largeUrl) {
    // What is drawn is what was drawn when somebody looked: no more than one point in fifty is otherwise.
    const { page: still } = await open(browser, `${largeUrl}?arm=0&t=5&x=500&y=0&z=4&layers=tx`);
    await still.waitForTimeout(300);
    measured.other_points = await otherThanKept(still, ".map canvas", "map", pictures);
    assert.ok(measured.other_points <= 0.02, `${measured.other_points} of the map's points are otherwise: look at map-small.png and web/e2e/pictures/map.png`);
    await still.close();

    const { page: large, opened: openedLarge } = await open(browser, `${largeUrl}?t=5`);
    measured.large_opened_ms = openedLarge;
    measured.large_shown_ms = await large.evaluate(() => window.covey.shownMs);
    measured.large_shown_cpu_ms = await cpuToFirstPicture(browser, `${largeUrl}?t=5`);
    await picture(large, "large");
    // A host is selected, so that its coverage is drawn, and all vehicles are on the screen.
    await large.locator("body").press("n");
    await large.locator("body").press("0");
    await large.click("#play");
    // All script of the page, decoding of chunks and tables included, in processor time of its thread: wall time would
    // count what other processes do on a busy machine.
    const session = await large.context().newCDPSession(large);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const script = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return [metrics.find((m) => m.name === "ScriptDuration").value * 1000, await large.evaluate(() => window.covey.drawn)];
    };
    // Where other processes leave few frames, what is done once a second counts for more of each: the best of three looks.
    const perFrame = async () => {
      let least = Infinity;
      for (let look = 0; look < 3; look += 1) {
        const [from, drawnFrom] = await script();
        await large.waitForTimeout(3000);
        const [to, drawnTo] = await script();
        least = Math.min(least, (to - from) / Math.max(1, drawnTo - drawnFrom));
      }
      return least;
    };
    measured.script_cpu_ms_per_frame = await perFrame();
    await picture(large, "large-host");
    const frames = await large.evaluate(() => window.covey.frames.slice(-400));
    frames.sort((a, b) => a - b);
    const at = (part) => frames[Math.min(frames.length - 1, Math.floor(part * frames.length))];
    measured.frames = frames.length;
    measured.frame_wall_ms = { median: at(0.5), p95: at(0.95), max: at(1) };
    // The same with two arms side by side.
    await large.selectOption("#versus", "1");
    await large.fill("#slider", "0");
    if (!(await now(large)).playing) await large.click("#play");
    measured.two_arms_script_cpu_ms_per_frame = await perFrame();
    assert.equal((await now(large)).arms.length, 2);
    await picture(large, "large-two-arms");
    measured.vehicles = await large.evaluate(async () => (await (await fetch("/api/0/manifest")).json()).vehicles.length);
    await large.close();
  }
} finally {
  await browser.close();
}
assert.deepEqual(complaints, []);
writeFileSync(join(pictures, "measured.json"), JSON.stringify(measured, null, 2));
console.log(JSON.stringify(measured));
