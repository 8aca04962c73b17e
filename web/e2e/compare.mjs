// Pictures against those that are kept in web/e2e/pictures.
// Fonts and edges differ a little from machine to machine, so both are made small first, and a share of points may differ.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const KEPT = join(dirname(fileURLToPath(import.meta.url)), "pictures");
/** Points across. */
const ACROSS = 240;
/** By how much of 255 a point may differ in any of its colours. */
const LEEWAY = 40;

/**
 * The share of points of a canvas that are not as they are in the kept picture, which is the place `name`.png of web/e2e/pictures; the present one goes to `folder`.
 * With COVEY_KEEP_PICTURES set the present one is kept.
 */
export async function otherThanKept(page, selector, name, folder) {
  const small = await page.evaluate(
    ([selector, across]) => {
      const canvas = document.querySelector(selector);
      const out = document.createElement("canvas");
      [out.width, out.height] = [across, Math.round((across * canvas.height) / canvas.width)];
      const pen = out.getContext("2d");
      pen.imageSmoothingQuality = "high";
      pen.drawImage(canvas, 0, 0, out.width, out.height);
      return out.toDataURL("image/png");
    },
    [selector, ACROSS],
  );
  const bytes = Buffer.from(small.split(",")[1], "base64");
  writeFileSync(join(folder, `${name}-small.png`), bytes);
  const file = join(KEPT, `${name}.png`);
  if (process.env.COVEY_KEEP_PICTURES) {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(file, bytes);
  }
  if (!existsSync(file)) throw new Error(`${file} is missing: set COVEY_KEEP_PICTURES and run the test again`);
  return page.evaluate(
    async ([now, kept, leeway]) => {
      const points = async (data) => {
        const image = new Image();
        image.src = data;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, image.height];
        const pen = canvas.getContext("2d");
        pen.drawImage(image, 0, 0);
        return pen.getImageData(0, 0, canvas.width, canvas.height);
      };
      const [a, b] = [await points(now), await points(kept)];
      if (a.width !== b.width || a.height !== b.height) return 1;
      let other = 0;
      for (let i = 0; i < a.data.length; i += 4) {
        if ([0, 1, 2].some((c) => Math.abs(a.data[i + c] - b.data[i + c]) > leeway)) other++;
      }
      return (4 * other) / a.data.length;
    },
    [small, `data:image/png;base64,${readFileSync(file).toString("base64")}`, LEEWAY],
  );
}
