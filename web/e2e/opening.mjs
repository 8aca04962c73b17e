// What opening a recording and playing it cost in a real browser.
// usage: node opening.mjs NPM_FOLDER URL SECOND[:ARM]... (seconds from the beginning of the recording; ARM is compared with the first)
// Prints one line of JSON per second: wall time from the address to the first picture with everything of its moment in it, processor
// time of the page's thread up to then (all of it, and scripts alone), requests and bytes. Then one line about playing with a host selected.
import { createRequire } from "node:module";
import { resolve } from "node:path";

import { program } from "./program.mjs";

const [npm, url, ...seconds] = process.argv.slice(2);
const { chromium } = createRequire(resolve(npm, "package.json"))("playwright-core");

const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
const round = (x) => Math.round(x * 10) / 10;

async function metrics(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map((m) => [m.name, m.value * 1000]));
}

try {
  const manifest = await (await fetch(`${url}api/0/manifest`)).json();
  const start = (manifest.first_step * manifest.step_us) / 1e6;
  for (const [second, versus] of seconds.map((text) => text.split(":"))) {
    const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    let [requests, bytes] = [0, 0];
    page.on("response", (answer) => {
      requests++;
      bytes += Number(answer.headers()["content-length"] ?? 0);
    });
    await page.goto(`${url}?t=${start + Number(second)}${versus ? `&vs=${versus}` : ""}`);
    await page.waitForFunction(() => window.covey?.shownMs > 0, undefined, { polling: 10 });
    const used = await metrics(session);
    const shown = await page.evaluate(() => window.covey.shownMs);
    console.log(
      JSON.stringify({
        second: Number(second),
        arms: versus ? 2 : 1,
        shown_ms: round(shown),
        page_cpu_ms: round(used.TaskDuration),
        script_cpu_ms: round(used.ScriptDuration),
        requests,
        kilobytes: round(bytes / 1000),
      }),
    );
    await context.close();
  }
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => window.covey?.hosts().length > 0);
  await page.locator("body").press("n");
  await page.locator("body").press("0");
  await page.locator("body").press(" ");
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const script = async () => [(await metrics(session)).ScriptDuration, await page.evaluate(() => window.covey.drawn)];
  await page.waitForTimeout(500);
  const [from, drawnFrom] = await script();
  await page.waitForTimeout(8000);
  const [to, drawnTo] = await script();
  console.log(JSON.stringify({ vehicles: manifest.vehicles.length, frames: drawnTo - drawnFrom, script_cpu_ms_per_frame: round((to - from) / (drawnTo - drawnFrom)) }));
} finally {
  await browser.close();
}
