// Opens a report and its figures in Chromium and complains, one line each, about errors, missing figures and clipped or
// overlapping text.
// usage: node check_report.mjs NPM_FOLDER REPORT_FOLDER FIGURES [PICTURES]
import { accessSync, constants, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [npm, folder, figures, pictures] = process.argv.slice(2);
const { chromium } = createRequire(resolve(npm, "package.json"))("playwright-core");

function program(name) {
  for (const path of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(path, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not here.
    }
  }
  throw new Error(`${name} is not on the PATH; cargo xtask test setup installs it`);
}

// Runs in the page. All that is visible is inside, at a size that can be read, and no two texts of a figure lie on each other.
function inspect(most) {
  const complaints = [];
  for (const details of document.querySelectorAll("details")) details.open = true;
  const root = document.documentElement;
  if (root instanceof HTMLElement && root.scrollWidth > root.clientWidth) {
    complaints.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth} px`);
  }
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg") || element.closest("title")) continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0) continue;
    if (box.right > root.clientWidth + 0.5 || box.left < -0.5) {
      complaints.push(`<${element.localName}> sticks out: ${element.textContent.slice(0, 40)}`);
    }
    if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline") {
      complaints.push(`<${element.localName}> is clipped: ${element.textContent.slice(0, 40)}`);
    }
  }
  const drawings = [...document.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width > 0);
  if (drawings.length !== most) complaints.push(`${drawings.length} figures show, expected ${most}`);
  for (const [number, svg] of drawings.entries()) {
    const view = svg.viewBox.baseVal;
    const scale = svg.getBoundingClientRect().width / view.width;
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent !== "");
    if (texts.length < 5) complaints.push(`figure ${number + 1} has hardly any text`);
    if (svg.querySelectorAll("g > title").length === 0) complaints.push(`figure ${number + 1} has no values to hover`);
    const boxes = texts.map((text) => text.getBBox());
    for (const [i, box] of boxes.entries()) {
      const text = texts[i].textContent;
      const inside = box.x >= 0 && box.y >= 0 && box.x + box.width <= view.width && box.y + box.height <= view.height;
      if (!inside) complaints.push(`figure ${number + 1}: text is clipped: ${text}`);
      const size = Number(texts[i].getAttribute("font-size")) * scale;
      if (size < 10) complaints.push(`figure ${number + 1}: text of ${size.toFixed(1)} px is too small: ${text}`);
      for (let j = 0; j < i; j += 1) {
        const other = boxes[j];
        const across = Math.min(box.x + box.width, other.x + other.width) - Math.max(box.x, other.x);
        const down = Math.min(box.y + box.height, other.y + other.height) - Math.max(box.y, other.y);
        // A box has room above and below its letters.
        if (across > 0.5 && down > 4) {
          complaints.push(`figure ${number + 1}: "${text}" lies on "${texts[j].textContent}"`);
        }
      }
    }
  }
  return complaints;
}

const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
const found = [];

// Shows each file in turn in a window of this width.
async function visit(files, width, colorScheme, expected) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
  const page = await context.newPage();
  let where = "";
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") found.push(`${where}: console: ${message.text()}`);
  });
  page.on("pageerror", (error) => found.push(`${where}: ${error}`));
  page.on("requestfailed", (request) => found.push(`${where}: could not load ${request.url()}`));
  for (const file of files) {
    where = `${file} at ${width} px, ${colorScheme}`;
    await page.goto(pathToFileURL(join(folder, file)).href);
    if (pictures) await shoot(page, file, `${width}-${colorScheme}`);
    for (const complaint of await page.evaluate(inspect, expected)) found.push(`${where}: ${complaint}`);
    if (file.endsWith(".html") && colorScheme === "dark") {
      const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      if ((await paper()) === "rgb(255, 255, 255)") found.push(`${where}: the paper is white`);
      await page.emulateMedia({ media: "print" });
      if ((await paper()) !== "rgb(255, 255, 255)") found.push(`${where}: does not print on white`);
      if (pictures) await page.pdf({ path: join(pictures, "page.pdf"), format: "A4" });
    }
  }
  await context.close();
}

async function shoot(page, file, name) {
  mkdirSync(pictures, { recursive: true });
  if (file.endsWith(".svg")) {
    await page.screenshot({ path: join(pictures, `${file.split("/").pop()}-${name}.png`) });
    return;
  }
  await page.screenshot({ path: join(pictures, `${name}-top.png`) });
  for (const section of await page.$$("section")) {
    const id = await section.getAttribute("id");
    await section.screenshot({ path: join(pictures, `${name}-${id}.png`) });
  }
}

try {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [400, 1400]) await visit(["report.html"], width, colorScheme, Number(figures));
  }
  const files = readdirSync(join(folder, "figures")).map((file) => `figures/${file}`);
  await visit(files, 1400, "light", 1);
} finally {
  await browser.close();
}
for (const complaint of found) console.log(complaint);
process.exitCode = found.length === 0 ? 0 : 1;
