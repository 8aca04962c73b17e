// Prints what Wireshark reads in a capture, one line a frame:
//
//   malformed=0 its.stationId=17 its.objectId=3,4
//
// node dissect.cjs FOLDER CAPTURE FIELD...
//
// FOLDER holds node_modules/@goodtools/wiregasm, Wireshark compiled to WebAssembly. Each FIELD that occurs in a frame is given
// with all its values, in the order of the protocol tree. `malformed` is 1 where Wireshark says so, or warns of a value.
"use strict";
const fs = require("fs");
const path = require("path");

const [folder, capture, ...fields] = process.argv.slice(2);
const dist = path.join(path.resolve(folder), "node_modules/@goodtools/wiregasm/dist");
const load = require(path.join(dist, "wiregasm.js"));

function walk(nodes, visit) {
  for (let i = 0; i < nodes.size(); i++) {
    const node = nodes.get(i);
    visit(node);
    walk(node.tree, visit);
    node.delete?.();
  }
}

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
  const lines = [];
  for (let number = 1; number <= loaded.summary.packet_count; number++) {
    const found = new Map(fields.map((field) => [field, []]));
    let malformed = 0;
    walk(session.getFrame(number).tree, ({ filter, label }) => {
      const [name, value] = filter.split(" == ");
      if (name.startsWith("_ws.malformed") || /^"?(Warning|Error)/.test(value ?? "")) malformed = 1;
      found.get(name)?.push(value ?? label);
    });
    const values = [...found].filter(([, values]) => values.length > 0);
    lines.push([`malformed=${malformed}`, ...values.map(([name, v]) => `${name}=${v.join(",")}`)].join(" "));
  }
  process.stdout.write(lines.join("\n") + "\n");
})().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
