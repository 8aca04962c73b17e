// Prints how many frames of a capture there are, and for how many each filter of Wireshark holds:
//
//   10002 10002 0
//
// node count.cjs FOLDER CAPTURE FILTER...
//
// FOLDER holds node_modules/@goodtools/wiregasm, Wireshark compiled to WebAssembly.
"use strict";
const fs = require("fs");
const path = require("path");

const [folder, capture, ...filters] = process.argv.slice(2);
const dist = path.join(path.resolve(folder), "node_modules/@goodtools/wiregasm/dist");
const load = require(path.join(dist, "wiregasm.js"));

(async () => {
  const wireshark = await load({
    locateFile: (name) => path.join(dist, name),
    print: () => {},
    printErr: () => {},
    handleStatus: () => {},
  });
  if (!wireshark.init()) throw new Error("Wireshark does not start");
  wireshark.FS.writeFile("/uploads/capture.pcap", fs.readFileSync(capture));
  const session = new wireshark.DissectSession("/uploads/capture.pcap");
  const loaded = session.load();
  if (loaded.code !== 0) throw new Error(`the capture is refused: code ${loaded.code}`);
  const counts = filters.map((filter) => {
    const checked = wireshark.checkFilter(filter);
    if (!checked.ok) throw new Error(`${filter}: ${checked.error}`);
    return session.getFrames(filter, 0, 1).matched;
  });
  console.log([loaded.summary.packet_count, ...counts].join(" "));
})().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
