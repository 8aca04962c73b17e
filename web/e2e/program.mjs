// Where an installed program is.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export function program(name) {
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
